package sse

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// splitter is what both kinds of stream have in common.
type splitter interface {
	Write(p []byte, emit func(Message))
	Close(emit func(Message))
}

// collect gives the parts to a splitter and copies what it emits. Each part is
// overwritten afterwards, as a pooled buffer would be.
func collect(s splitter, parts ...[]byte) []Message {
	var got []Message
	keep := func(m Message) {
		m.Data = append([]byte{}, m.Data...)
		got = append(got, m)
	}
	for _, part := range parts {
		part = bytes.Clone(part)
		s.Write(part, keep)
		for i := range part {
			part[i] = '!'
		}
	}
	s.Close(keep)
	return got
}

func message(name, text string) Message { return Message{Name: name, Data: []byte(text)} }

func TestEveryWayToFrameAMessageIsRead(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		want         []Message
	}{
		{"nothing", "", nil},
		{"line feeds", "data: a\n\ndata: b\n\n", []Message{message("", "a"), message("", "b")}},
		{"carriage returns and line feeds", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []Message{message("x", "a"), message("", "b")}},
		{"carriage returns", "event: x\rdata: a\r\rdata: b\r\r", []Message{message("x", "a"), message("", "b")}},
		{"mixed line ends", "data: a\r\n\ndata: b\r\rdata: c\n\r\n", []Message{message("", "a"), message("", "b"), message("", "c")}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []Message{message("", "a")}},
		{"only one byte order mark is dropped", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []Message{message("", "a")}},
		{"no blank after the colon", "data:a\n\n", []Message{message("", "a")}},
		{"one blank is dropped, no more", "data:  a \n\n", []Message{message("", " a ")}},
		{"event after data", "data: a\nevent: late\n\n", []Message{message("late", "a")}},
		{"the last event name wins", "event: a\nevent: b\ndata: x\n\n", []Message{message("b", "x")}},
		{"a name does not outlive its message", "event: a\n\ndata: x\n\n", []Message{message("", "x")}},
		{"several data lines", "data: a\ndata:\ndata: b\n\n", []Message{message("", "a\n\nb")}},
		{"empty data is a message", "data:\n\ndata\n\n", []Message{message("", ""), message("", "")}},
		{"comments", ": ping\n\n:\n\ndata: a\n: in between\ndata: b\n\n", []Message{message("", "a\nb")}},
		{"an event without data", "event: x\nid: 7\nretry: 10\n\n", nil},
		{"other fields", "id: 1\ndata: a\ndatax: b\nDATA: c\n data: d\n\n", []Message{message("", "a")}},
		{"colons in the data", "data: {\"a\":\"b: c\"}\n\n", []Message{message("", `{"a":"b: c"}`)}},
		{"no last blank line", "data: a\n\ndata: b\n", []Message{message("", "a"), message("", "b")}},
		{"no last line end", "event: x\ndata: a", []Message{message("x", "a")}},
		{"blank lines in front", "\n\r\n\rdata: a\n\n", []Message{message("", "a")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, collect(&Splitter{}, []byte(tt.stream))); diff != "" {
				t.Errorf("whole (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, collect(&Splitter{}, bytewise(tt.stream)...)); diff != "" {
				t.Errorf("byte by byte (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALongMessageKeepsItsBeginningAndSaysSo(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		want         Message
	}{
		{"just fits", "data: 12345678\n\n", Message{Data: []byte("12345678")}},
		{"one too many", "data: 123456789\n\n", Message{Data: []byte("12345678"), Cut: true}},
		{"over several lines", "data: 1234\ndata: 5678\n\n", Message{Data: []byte("1234\n567"), Cut: true}},
		{"nothing fits any more", "data: 12345678\ndata: \ndata: 9\n\n", Message{Data: []byte("12345678"), Cut: true}},
		{"a long comment is no part of it", "data: 1\n: " + strings.Repeat("x", 999) + "\n\n", Message{Data: []byte("1")}},
		{"a long name is shortened", "event: " + strings.Repeat("n", 999) + "\ndata: 1\n\n", Message{Name: strings.Repeat("n", maxName), Data: []byte("1")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, parts := range [][][]byte{{[]byte(tt.stream)}, bytewise(tt.stream)} {
				if diff := cmp.Diff([]Message{tt.want}, collect(&Splitter{Limit: 8}, parts...)); diff != "" {
					t.Errorf("%d parts (-want +got):\n%s", len(parts), diff)
				}
			}
		})
	}
}

func TestAMessageInsideOneWriteIsNotCopied(t *testing.T) {
	p := []byte("event: x\ndata: one\n\ndata: two\r\n\r\n")
	var s Splitter
	s.Write(p, func(m Message) {
		if at := bytes.Index(p, m.Data); &m.Data[0] != &p[at] {
			t.Errorf("%q was copied", m.Data)
		}
	})
}

func TestAnUnendedLineOfAGibibyteCostsConstantMemory(t *testing.T) {
	const limit = 1 << 20
	s := Splitter{Limit: limit}
	chunk := bytes.Repeat([]byte("x"), 32<<10)
	var got Message
	s.Write([]byte("data: "), nil)
	for range 1 << 30 / len(chunk) {
		s.Write(chunk, nil)
	}
	if held := cap(s.lines.begun) + cap(s.own); held > 4*limit {
		t.Errorf("holds %d bytes for a limit of %d", held, limit)
	}
	s.Write([]byte("\n\n"), func(m Message) { got = m })
	if !got.Cut || len(got.Data) != limit {
		t.Errorf("cut %v, %d bytes", got.Cut, len(got.Data))
	}
	s.Write([]byte("data: a\n"), nil)
	s.Write([]byte("\n"), discard)
	if held := cap(s.lines.begun) + cap(s.own); held > keepCap {
		t.Errorf("still holds %d bytes after the huge message", held)
	}
}

func TestAWarmSplitterDoesNotAllocate(t *testing.T) {
	var s Splitter
	parts := [][]byte{
		[]byte("event: first\ndata: {\"a\":1}\n\nevent: second\nda"),
		[]byte("ta: {\"b\":2}\ndata: more\n"),
		[]byte("\n: ping\n\n"),
	}
	allocs := testing.AllocsPerRun(100, func() {
		for _, part := range parts {
			s.Write(part, discard)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations a round", allocs)
	}
}

func TestTheNamesKeptAreFew(t *testing.T) {
	var s Splitter
	for i := range 10 * maxNames {
		s.Write([]byte("event: "+strings.Repeat("n", i%200)+"\ndata: 1\n\n"), discard)
	}
	if len(s.names) > maxNames {
		t.Errorf("%d names kept", len(s.names))
	}
}

func TestAnyCutGivesTheMessagesOfTheReference(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"\n", "\n\n", "\r", "\r\n", "data: ", "data:", "data", "event: ", "event:", ": ", ":", " ",
		"a", "delta", "{\"x\":1}", "\xef\xbb\xbf", "\xe5\x8c\x97", "id: 1", "data: whole\n\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		stream := []byte(strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "stream"), ""))
		limit := rapid.SampledFrom([]int{0, 1, 3, 8}).Draw(t, "limit")
		parts := cutAt(stream, rapid.SliceOf(rapid.IntRange(0, len(stream))).Draw(t, "cuts"))
		want := reference(stream, limit)
		if diff := cmp.Diff(want, collect(&Splitter{Limit: limit}, parts...)); diff != "" {
			t.Fatalf("%q in parts %q (-want +got):\n%s", stream, parts, diff)
		}
	})
}

func FuzzAnyCutGivesTheSameMessages(f *testing.F) {
	f.Add([]byte("event: x\r\ndata: a\r\n\r\n: ping\n\ndata: b"), uint16(9), uint16(3))
	f.Add([]byte("\xef\xbb\xbfdata: \xe5\x8c\x97\ndata:c\r\r"), uint16(2), uint16(0))
	f.Add([]byte("{\"a\":1}\n\n  \n{\"b\":2}\r\n"), uint16(1), uint16(5))
	f.Fuzz(func(t *testing.T, stream []byte, size, limit uint16) {
		parts := chunks(stream, 1+int(size)%64)
		want := reference(stream, int(limit))
		if diff := cmp.Diff(want, collect(&Splitter{Limit: int(limit)}, parts...)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		whole := collect(&Lines{Limit: int(limit)}, stream)
		if diff := cmp.Diff(whole, collect(&Lines{Limit: int(limit)}, parts...)); diff != "" {
			t.Errorf("lines (-whole +parts):\n%s", diff)
		}
	})
}

func BenchmarkSplitter(b *testing.B) {
	message := "event: response.output_text.delta\ndata: {\"delta\":\"" + strings.Repeat("word ", 30) + "\"}\n\n"
	for _, bb := range []struct {
		name  string
		write []byte
	}{
		{"one message a write", []byte(message)},
		{"many messages a write", []byte(strings.Repeat(message, 100))},
		{"line without an end", bytes.Repeat([]byte("x"), 32<<10)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s := Splitter{Limit: 1 << 20}
			b.SetBytes(int64(len(bb.write)))
			b.ReportAllocs()
			for b.Loop() {
				s.Write(bb.write, discard)
			}
		})
	}
}

func discard(Message) {}

// reference is the rule in its plainest form: the whole stream, line by line.
func reference(stream []byte, limit int) []Message {
	if limit <= 0 {
		limit = DefaultLimit
	}
	text := strings.TrimPrefix(string(stream), "\xef\xbb\xbf")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var got []Message
	var name string
	var data []string
	for _, line := range append(strings.Split(text, "\n"), "") {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != nil {
				joined := strings.Join(data, "\n")
				n := min(len(joined), limit)
				got = append(got, Message{Name: name, Data: []byte(joined[:n]), Cut: n < len(joined)})
			}
			name, data = "", nil
		case field == "data":
			data = append(data, value)
		case field == "event":
			name = value[:min(len(value), maxName)]
		}
	}
	return got
}

func bytewise(stream string) [][]byte { return chunks([]byte(stream), 1) }

func chunks(stream []byte, size int) (parts [][]byte) {
	for len(stream) > 0 {
		n := min(size, len(stream))
		parts = append(parts, stream[:n])
		stream = stream[n:]
	}
	return parts
}

// cutAt cuts a stream at the given places, in any order and with repeats.
func cutAt(stream []byte, cuts []int) (parts [][]byte) {
	at := 0
	for _, cut := range cuts {
		if cut > at {
			parts = append(parts, stream[at:cut])
			at = cut
		}
	}
	return append(parts, stream[at:])
}
