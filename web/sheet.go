package web

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// sheet is what the rows of one view have in common.
type sheet struct {
	l     language
	now   time.Time
	scale scale
	extra []string       // columns besides, by the CSV's names
	late  *time.Duration // the TTFT beyond which one stands out; nil for none
	slow  *float64       // the decode rate below which one stands out; nil for none
}

// standingOut is how many exchanges a view must have for some to stand out.
const standingOut = 20

func sheetOf(l language, q query, now time.Time, o *overview) sheet {
	sh := sheet{l: l, now: now, extra: extraColumns(q)}
	if len(o.firsts) >= standingOut {
		sh.late = quantile(o.firsts, 0.95)
	}
	if len(o.rates) >= standingOut {
		sh.slow = quantile(o.rates, 0.1)
	}
	if s, ok := scaleAsked(q); ok {
		sh.scale = s
	}
	return sh
}

// suit gives the sheet a scale that suits its exchanges, unless one was asked for.
func (sh *sheet) suit(exchanges []*exchange.Exchange) {
	switch {
	case sh.scale.end == fits:
		sh.scale = scaleFor(exchanges, sh.now, 1)
	case sh.scale.end == 0:
		sh.scale = scaleOf(exchanges, sh.now)
		if few := len(exchanges) < fewRequests; few && sh.scale.end < fewScale { // more are to come, and not all as short
			sh.scale = newScale(fewScale)
		}
	}
}

// span is how many columns the rows have.
func (sh *sheet) span() int { return len(sorts) + len(sh.extra) }

// fewScale is what the scale of a few exchanges has at least.
const fewScale = 10 * time.Second

// fits stands for a scale that the longest bar fits into.
const fits = -1

// scales are what the form offers: seconds, or the longest of all.
var scales = []string{"10", "30", "60", "fit"}

// scaleAsked is the scale that a query asks for, by its seconds or as fit.
func scaleAsked(q query) (scale, bool) {
	asked := q.get("scale")
	if asked == "fit" {
		return scale{end: fits}, true
	}
	n, err := strconv.ParseFloat(asked, 64)
	if err != nil || !(n >= 0.01 && n <= 1e5) {
		return scale{}, false
	}
	return newScale(time.Duration(n * float64(time.Second))), true
}

// extraColumns are the further columns that a query asks for, by name and with
// commas between.
func extraColumns(q query) []string {
	var all []string
	for name := range strings.SplitSeq(q.get("cols"), ",") {
		if slices.Contains(store.Columns(), name) && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// unshapely names what of the page's own names cannot be used.
func unshapely(ours map[string][]string) (problems []store.Problem) {
	q := query(ours)
	if asked := q.get("scale"); asked != "" {
		if _, ok := scaleAsked(q); !ok {
			problems = append(problems, store.Problem{Name: "scale", Value: asked, Reason: "is not fit, nor a number of seconds"})
		}
	}
	for name := range strings.SplitSeq(q.get("cols"), ",") {
		if name != "" && !slices.Contains(store.Columns(), name) {
			problems = append(problems, store.Problem{Name: "cols", Value: name, Reason: "is no column of the CSV"})
		}
	}
	return problems
}

// cells are the values of further columns, as the CSV writes them.
func cells(x *exchange.Exchange, columns []string) []string {
	all := store.Texts(x, columns)
	for i := range all {
		all[i] = plain(all[i], nameRunes)
	}
	return all
}

// An exchange is slow whose excess is so much, and such a part of its time.
const (
	slowLeast = time.Second
	slowShare = 0.3
)

// isSlow says whether an exchange took far longer than its model usually does for
// as much work.
func isSlow(x *exchange.Exchange) bool {
	return x.Excess != nil && x.End != nil && *x.Excess >= slowLeast && float64(*x.Excess) >= slowShare*float64(*x.End)
}

// chooser is the form for what a table shows of each exchange.
type chooser struct {
	Kept    []field
	Columns []choice
	Scales  []choice
}

// offered are the further columns that the form offers; the address takes all of
// the CSV.
var offered = []string{
	"upstream", "client", "key_id", "session_id", "turn_id", "request_id", "finish_reason", "cause", "cached_tokens", "reasoning_tokens",
	"network_ms", "queue_ms", "prefill_ms", "hidden_decode_ms", "decode_ms", "excess_ms", "tpot_ms", "cache_outcome", "concurrency",
}

func newChooser(l language, q query) chooser {
	var c chooser
	for name, values := range q {
		if !slices.Contains([]string{"cols", "scale", "cursor"}, name) {
			c.Kept = append(c.Kept, field{name, values[0]})
		}
	}
	slices.SortFunc(c.Kept, func(a, b field) int { return cmp.Compare(a.Name, b.Name) })
	shown := extraColumns(q)
	for _, name := range slices.Concat(offered, shown) {
		if !slices.ContainsFunc(c.Columns, func(o choice) bool { return o.Value == name }) {
			c.Columns = append(c.Columns, choice{Word: name, Value: name, Current: slices.Contains(shown, name)})
		}
	}
	c.Scales = append(c.Scales, choice{Word: l.say("scale.auto"), Current: q.get("scale") == ""})
	for _, s := range scales {
		word := s + " s"
		if s == "fit" {
			word = l.say("scale.fit")
		}
		c.Scales = append(c.Scales, choice{Word: word, Value: s, Current: q.get("scale") == s})
	}
	return c
}
