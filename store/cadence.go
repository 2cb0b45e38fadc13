package store

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// cadence is text: the milliseconds of a step, the portion of the first read and
// those of the steps, then after a bar the gaps, as in "100 4 40+12 0 | 200+210".
// A portion is the bytes of the answer, after those of reasoning and a plus where
// there were any. A gap is when it began and how long it took.
type cadence struct{ p **exchange.Cadence }

func (f cadence) sqlType() string { return "TEXT" }
func (f cadence) isText() bool    { return true }

func (f cadence) value() any {
	if *f.p == nil {
		return nil
	}
	return string(f.append(nil))
}

func (f cadence) append(b []byte) []byte {
	c := *f.p
	if c == nil {
		return b
	}
	b = strconv.AppendInt(b, c.Step.Milliseconds(), 10)
	b = appendPortion(b, c.First)
	for _, p := range c.Steps {
		b = appendPortion(b, p)
	}
	if len(c.Gaps) > 0 {
		b = append(b, " |"...)
	}
	for _, g := range c.Gaps {
		b = appendPair(b, g.From.Milliseconds(), g.Took.Milliseconds())
	}
	return b
}

func appendPortion(b []byte, p exchange.Portion) []byte {
	if p.Reasoning == 0 {
		return strconv.AppendInt(append(b, ' '), p.Answer, 10)
	}
	return appendPair(b, p.Reasoning, p.Answer)
}

func appendPair(b []byte, first, second int64) []byte {
	b = strconv.AppendInt(append(b, ' '), first, 10)
	return strconv.AppendInt(append(b, '+'), second, 10)
}

func (f cadence) set(v any) error {
	text, err := read[string](v)
	*f.p = nil
	if text != nil {
		*f.p, err = parseCadence(*text)
	}
	return err
}

var errCadence = errors.New("it is no cadence, or one of a newer form")

func parseCadence(text string) (*exchange.Cadence, error) {
	output, silences, _ := strings.Cut(text, " | ")
	portions, err := pairs(output)
	gaps, gapsErr := pairs(silences)
	if err != nil || gapsErr != nil || len(portions) < 2 {
		return nil, errCadence
	}
	c := &exchange.Cadence{
		Step:  time.Duration(portions[0].second) * time.Millisecond,
		First: exchange.Portion{Reasoning: portions[1].first, Answer: portions[1].second},
	}
	for _, p := range portions[2:] {
		c.Steps = append(c.Steps, exchange.Portion{Reasoning: p.first, Answer: p.second})
	}
	for _, g := range gaps {
		c.Gaps = append(c.Gaps, exchange.Gap{
			From: time.Duration(g.first) * time.Millisecond,
			Took: time.Duration(g.second) * time.Millisecond,
		})
	}
	return c, nil
}

// pair is two numbers with a plus between them, or the second alone.
type pair struct{ first, second int64 }

// pairs reads all the pairs of a text.
func pairs(text string) ([]pair, error) {
	all := make([]pair, 0, strings.Count(text, " ")+1)
	for word := range strings.FieldsSeq(text) {
		var p pair
		var err error
		first, second, both := strings.Cut(word, "+")
		if !both {
			second = first
		} else if p.first, err = strconv.ParseInt(first, 10, 64); err != nil {
			return nil, err
		}
		if p.second, err = strconv.ParseInt(second, 10, 64); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}
