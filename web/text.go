package web

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain makes a stranger's text safe to read: at most n runes of it, and what
// would not show, or would turn the direction of what follows, spelled out.
// That it cannot be markup is the templates' care.
func plain(s string, n int) string {
	var b strings.Builder
	for _, r := range s {
		if n--; n < 0 {
			b.WriteRune('…')
			break
		}
		if r == utf8.RuneError || misleads(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// lines is plain for a text of several lines.
func lines(s string, n int) string {
	parts := strings.Split(s, "\n")
	for i, p := range parts {
		parts[i] = plain(p, n)
		n -= utf8.RuneCountInString(p)
		if n <= 0 {
			return strings.Join(parts[:i+1], "\n")
		}
	}
	return strings.Join(parts, "\n")
}

func misleads(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}
