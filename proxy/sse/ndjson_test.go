package sse

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEveryLineThatIsNotBlankIsAMessage(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		limit        int
		want         []Message
	}{
		{"nothing", "", 0, nil},
		{"line feeds", "{\"a\":1}\n{\"b\":2}\n", 0, []Message{message("", `{"a":1}`), message("", `{"b":2}`)}},
		{"carriage returns and line feeds", "{}\r\n[]\r\n", 0, []Message{message("", "{}"), message("", "[]")}},
		{"blank lines", "\n  \n\t\r\n{}\n\n", 0, []Message{message("", "{}")}},
		{"no last line end", "{}\n[]", 0, []Message{message("", "{}"), message("", "[]")}},
		{"byte order mark", "\xef\xbb\xbf{}\n", 0, []Message{message("", "{}")}},
		{"too long", "12345\n1234\n", 4, []Message{{Data: []byte("1234"), Cut: true}, message("", "1234")}},
		{"blank as far as it is kept", strings.Repeat(" ", 999) + "x\n", 4, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, parts := range [][][]byte{{[]byte(tt.stream)}, bytewise(tt.stream)} {
				if diff := cmp.Diff(tt.want, collect(&Lines{Limit: tt.limit}, parts...)); diff != "" {
					t.Errorf("%d parts (-want +got):\n%s", len(parts), diff)
				}
			}
		})
	}
}

func TestAnyCutGivesTheSameLines(t *testing.T) {
	piece := rapid.SampledFrom([]string{"\n", "\r", "\r\n", " ", "{\"a\":1}", "x", "\xef\xbb\xbf"})
	rapid.Check(t, func(t *rapid.T) {
		stream := []byte(strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "stream"), ""))
		parts := cutAt(stream, rapid.SliceOf(rapid.IntRange(0, len(stream))).Draw(t, "cuts"))
		var want []Message
		text := bytes.TrimPrefix(stream, byteOrderMark)
		for line := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if len(bytes.TrimSpace(line)) > 0 {
				want = append(want, Message{Data: bytes.Clone(line)})
			}
		}
		if diff := cmp.Diff(want, collect(&Lines{}, parts...)); diff != "" {
			t.Fatalf("%q in parts %q (-want +got):\n%s", stream, parts, diff)
		}
	})
}

func TestAWarmLineSplitterDoesNotAllocate(t *testing.T) {
	var l Lines
	parts := [][]byte{[]byte("{\"a\":1}\n{\"b\""), []byte(":2}\n")}
	allocs := testing.AllocsPerRun(100, func() {
		for _, part := range parts {
			l.Write(part, discard)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations a round", allocs)
	}
}
