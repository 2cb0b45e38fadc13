package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// writeLine writes the one line of an ended exchange. A dash is a value that is
// not known, a tilde a rate of too short a sample.
func writeLine(w io.Writer, x *exchange.Exchange) {
	var b strings.Builder
	fmt.Fprintf(&b, "first_token_ms=%s output_tokens=%s total_ms=%s tokens_per_sec=%s bound=%s",
		milliseconds(x.FirstToken), count(x.OutputTokens), milliseconds(x.End), rate(x), x.Bound)
	if x.Outcome != exchange.OK {
		fmt.Fprintf(&b, " outcome=%s", x.Outcome)
	}
	if x.Status != nil && *x.Status != 200 {
		fmt.Fprintf(&b, " status=%d", *x.Status)
	}
	fmt.Fprintf(&b, " model=%s id=%s\n", word(x.Model()), x.ID)
	_, _ = io.WriteString(w, b.String())
}

func milliseconds(d *time.Duration) string {
	if d == nil {
		return "-"
	}
	return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10)
}

func count(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

func rate(x *exchange.Exchange) string {
	if x.TokensPerSec == nil {
		return "-"
	}
	s := strconv.FormatFloat(*x.TokensPerSec, 'f', 1, 64)
	if x.RateQuality == "noisy" {
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
