package web

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestHiddenAndTurningCharactersAreSpelledOut(t *testing.T) {
	for s, want := range map[string]string{
		"gpt-5":           "gpt-5",
		"通义千问":            "通义千问",
		"a\u202ecod":      `a\u202ecod`,
		"a\u2066b\u2069":  `a\u2066b\u2069`,
		"line\u2028line":  `line\u2028line`,
		"nul\x00tab\t":    `nul\u0000tab\u0009`,
		"\xff":            `\ufffd`,
		"zero\u200bwidth": `zero\u200bwidth`,
	} {
		if got := plain(s, 100); got != want {
			t.Errorf("plain(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestALongTextIsCutVisibly(t *testing.T) {
	if got := plain(strings.Repeat("长", 200), 160); got != strings.Repeat("长", 160)+"…" {
		t.Errorf("got %d runes", utf8.RuneCountInString(got))
	}
	if got := plain("just fits", 9); got != "just fits" {
		t.Errorf("got %q", got)
	}
}

func TestPlainTextShowsAndIsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(0, 50).Draw(t, "n")
		got := plain(s, n)
		if strings.ContainsFunc(got, misleads) {
			t.Fatalf("%q still misleads", got)
		}
		if utf8.RuneCountInString(got) > 10*n+1 {
			t.Fatalf("%q is longer than %d spelled-out runes", got, n)
		}
	})
}

func TestLinesKeepTheirBreaksAndTheirLimit(t *testing.T) {
	if got, want := lines("{\n  \"a\": 1\n}", 100), "{\n  \"a\": 1\n}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := lines("abc\ndef\nghi", 5), "abc\nde…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := lines(strings.Repeat("x\n", 10_000), 20); len(got) > 60 {
		t.Errorf("%d bytes are left of many lines", len(got))
	}
}

func TestUsageIsLaidOutAndWhatIsNoJSONIsShownAsItCame(t *testing.T) {
	if got, want := indented(`{"a":{"b":1}}`), "{\n  \"a\": {\n    \"b\": 1\n  }\n}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := indented(`{"a":`), `{"a":`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
