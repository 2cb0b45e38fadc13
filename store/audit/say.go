package audit

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"
)

// with is the words with their figures put in for ${name}: pairs of a name and a
// value. What others have named keeps to one line, and to what a terminal shows.
func (w Words) with(figures ...any) Words {
	return Words{w.fill(w.En, "en", figures), w.fill(w.Zh, "zh", figures)}
}

func (w Words) fill(text, lang string, figures []any) string {
	return os.Expand(text, func(name string) string {
		for i := 0; i+1 < len(figures); i += 2 {
			if figures[i] == name {
				return written(figures[i+1], lang)
			}
		}
		return "?" + name
	})
}

// written is a figure as it is read.
func written(v any, lang string) string {
	switch v := v.(type) {
	case Words:
		return v.In(lang)
	case int:
		return thousands(int64(v))
	case int64:
		return thousands(v)
	case *int64:
		if v == nil {
			return "–"
		}
		return thousands(*v)
	}
	return printable(fmt.Sprint(v))
}

// longest is how much of a name is shown.
const longest = 120

func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}

// thousands writes a number in groups of three.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// note keeps what is to be said of the comparison as a whole.
func (c *comparison) note(w Words, figures ...any) {
	c.notes = append(c.notes, w.with(figures...))
}
