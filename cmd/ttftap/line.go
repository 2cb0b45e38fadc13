package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// lines writes the one line of each ended exchange. Whoever reads them may be
// slow, or not read at all: then lines are dropped, and nothing waits.
type lines struct {
	queue chan string
	done  chan struct{}
}

const (
	linesWaiting = 4096
	lastLines    = time.Second // that the last of them may take
)

func newLines(w io.Writer) *lines {
	l := &lines{make(chan string, linesWaiting), make(chan struct{})}
	go func() {
		defer close(l.done)
		for line := range l.queue {
			_, _ = io.WriteString(w, line)
		}
	}()
	return l
}

func (l *lines) write(x *exchange.Exchange) {
	select {
	case l.queue <- lineOf(x):
	default:
	}
}

// close writes what waits. No more may be written then.
func (l *lines) close() {
	close(l.queue)
	select {
	case <-l.done:
	case <-time.After(lastLines):
	}
}

// lineOf is the line of an exchange, for programs to read: its numbers are bare.
// A hyphen is a value that is not known; a tilde marks a rate of too short a sample,
// and tokens that were counted here.
func lineOf(x *exchange.Exchange) string {
	var b strings.Builder
	fmt.Fprintf(&b, "first_token_ms=%s output_tokens=%s total_ms=%s tokens_per_sec=%s bound=%s",
		milliseconds(x.FirstToken), outputCount(x), milliseconds(x.End), rate(x), x.Bound)
	if x.Outcome != exchange.OK {
		fmt.Fprintf(&b, " outcome=%s", x.Outcome)
	}
	if x.Status != nil && *x.Status != 200 {
		fmt.Fprintf(&b, " status=%d", *x.Status)
	}
	fmt.Fprintf(&b, " model=%s id=%s\n", word(x.Model()), x.ID)
	return b.String()
}

func milliseconds(d *time.Duration) string {
	if d == nil {
		return "-"
	}
	return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10)
}

func outputCount(x *exchange.Exchange) string {
	switch {
	case x.OutputTokens != nil:
		return strconv.FormatInt(*x.OutputTokens, 10)
	case x.EstimatedOutput != nil:
		return strconv.FormatInt(*x.EstimatedOutput, 10) + "~"
	}
	return "-"
}

func rate(x *exchange.Exchange) string {
	if x.TokensPerSec == nil {
		return "-"
	}
	s := strconv.FormatFloat(*x.TokensPerSec, 'f', 1, 64)
	if x.RateQuality == exchange.NoisyRate {
		s += "~"
	}
	return s
}

// word keeps a foreign text to one word of the line.
func word(s string) string {
	if s == "" {
		return "-"
	}
	if q := strconv.Quote(s); strings.ContainsAny(s, " =") || q != `"`+s+`"` {
		return q
	}
	return s
}
