package websocket_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/websocket"
)

// said is a message as a test compares it.
type said struct {
	Opcode websocket.Opcode
	Text   string
	Cut    bool
	Size   int64
	Began  time.Time
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// read gives a reader the writes, one a millisecond.
func read(r *websocket.Reader, writes ...[]byte) (all []said, err error) {
	for i, p := range writes {
		err = r.Write(noon.Add(time.Duration(i)*time.Millisecond), p, func(m websocket.Message) {
			all = append(all, said{m.Opcode, string(m.Data), m.Cut, m.Size, m.Began})
		})
	}
	return all, err
}

// frame is one frame as it is, first byte and all.
func frame(first byte, mask []byte, payload string) []byte {
	size := byte(0)
	if mask != nil {
		size = 0x80
	}
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, size|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, size|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, size|127), uint64(n))
	}
	b = append(b, mask...)
	for i := range len(payload) {
		c := payload[i]
		if mask != nil {
			c ^= mask[i%4]
		}
		b = append(b, c)
	}
	return b
}

const (
	last = 0x80
	text = byte(websocket.Text)
	ping = byte(websocket.Ping)
)

func TestMessagesArePutTogether(t *testing.T) {
	mask := []byte{1, 2, 3, 4}
	long := strings.Repeat("0123456789", 7000)
	for name, c := range map[string]struct {
		bytes [][]byte
		want  []string
	}{
		"one frame":                  {[][]byte{frame(last|text, nil, "hello")}, []string{"hello"}},
		"a masked one":               {[][]byte{frame(last|text, mask, "hello")}, []string{"hello"}},
		"none of it":                 {[][]byte{frame(last|text, mask, "")}, []string{""}},
		"in fragments":               {[][]byte{frame(text, nil, "he"), frame(0, nil, ""), frame(last, nil, "llo")}, []string{"hello"}},
		"a ping between":             {[][]byte{frame(text, mask, "he"), frame(last|ping, mask, "are you there"), frame(last, mask, "llo")}, []string{"are you there", "hello"}},
		"a length of two bytes":      {[][]byte{frame(last|text, mask, long[:126]), frame(last|text, nil, long[:1<<16-1])}, []string{long[:126], long[:1<<16-1]}},
		"a length of eight":          {[][]byte{frame(last|text, mask, long), frame(last|text, nil, "and on")}, []string{long, "and on"}},
		"two in a row":               {[][]byte{frame(last|text, nil, "a"), frame(last|text, nil, "b")}, []string{"a", "b"}},
		"one that another breaks":    {[][]byte{frame(text, nil, "lost"), frame(last|text, nil, "b")}, []string{"b"}},
		"a rest of nothing":          {[][]byte{frame(last, nil, "lost"), frame(last|text, nil, "b")}, []string{"b"}},
		"a kind that nobody knows":   {[][]byte{frame(last|3, nil, "lost"), frame(last|11, nil, "lost"), frame(last|text, nil, "b")}, []string{"b"}},
		"a fragment with a mask off": {[][]byte{frame(text, mask, "he"), frame(last, nil, "llo")}, []string{"hello"}},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := read(new(websocket.Reader), bytes.Join(c.bytes, nil))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range all {
				got = append(got, m.Text)
				if m.Size != int64(len(m.Text)) || m.Cut {
					t.Errorf("%d bytes are said to be %d, cut: %v", len(m.Text), m.Size, m.Cut)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// drawn is a message in frames, with what it is to be read as.
func drawn(t *rapid.T) (all []byte, want []said) {
	for range rapid.IntRange(1, 4).Draw(t, "messages") {
		content := rapid.StringN(0, 300, -1).Draw(t, "content")
		op := rapid.SampledFrom([]websocket.Opcode{websocket.Text, websocket.Binary}).Draw(t, "opcode")
		first := byte(op)
		for rest, n := content, 0; ; n++ {
			var mask []byte
			if rapid.Bool().Draw(t, "masked") {
				mask = rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "mask")
			}
			if rapid.IntRange(0, 3).Draw(t, "ping") == 0 && n > 0 {
				all = append(all, frame(last|ping, mask, "p")...)
				want = append(want, said{Opcode: websocket.Ping, Text: "p", Size: 1})
			}
			size := rapid.IntRange(0, len(rest)).Draw(t, "size")
			if n == 3 {
				first, size = first|last, len(rest)
			}
			all = append(all, frame(first, mask, rest[:size])...)
			if first&last != 0 {
				break
			}
			rest, first = rest[size:], 0
		}
		want = append(want, said{Opcode: op, Text: content, Size: int64(len(content))})
	}
	return all, want
}

func TestHoweverTheBytesAreCutTheMessagesAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, want := drawn(t)
		before := bytes.Clone(all)
		var writes [][]byte
		for rest := all; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			writes, rest = append(writes, rest[:n]), rest[n:]
		}
		got, err := read(new(websocket.Reader), writes...)
		for i := range got {
			got[i].Began = time.Time{}
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
		if !bytes.Equal(all, before) {
			t.Error("the reader altered what it was given")
		}
	})
}

func TestCutAtEachByteAMessageIsTheSameAndBeganWithItsFirst(t *testing.T) {
	all := slicesOf(frame(text, []byte{9, 8, 7, 6}, "he"), frame(last|ping, nil, "p"), frame(last, []byte{1, 1, 1, 1}, strings.Repeat("l", 200)))
	for i := 1; i < len(all); i++ {
		got, err := read(new(websocket.Reader), all[:i], all[i:])
		if err != nil || len(got) != 2 || got[1].Text != "he"+strings.Repeat("l", 200) || got[1].Began != noon {
			t.Fatalf("cut at %d: %v %v", i, got, err)
		}
	}
}

func slicesOf(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestAMessageBeyondTheLimitIsCut(t *testing.T) {
	long := strings.Repeat("x", 200)
	for name, all := range map[string][]byte{
		"in one frame":     frame(last|text, []byte{1, 2, 3, 4}, long),
		"unmasked":         frame(last|text, nil, long),
		"by its fragments": slicesOf(frame(text, nil, long[:60]), frame(0, nil, long[:60]), frame(last, nil, long[:80])),
	} {
		r := &websocket.Reader{Limit: 100}
		got, err := read(r, all, frame(last|text, nil, "next"))
		if err != nil || len(got) != 2 {
			t.Fatalf("%s: %v %v", name, got, err)
		}
		if m := got[0]; !m.Cut || m.Size != 200 || len(m.Text) == 0 || len(m.Text) > 100 || !strings.HasPrefix(long, m.Text) {
			t.Errorf("%s: %d bytes of %d, cut: %v", name, len(m.Text), m.Size, m.Cut)
		}
		if got[1].Text != "next" || got[1].Cut {
			t.Errorf("%s: after it came %v", name, got[1])
		}
	}
}

// A gigabyte goes by without being kept, nor is room made for what is announced.
func TestALongFrameCostsNoMemory(t *testing.T) {
	const size = 1 << 30
	head := binary.BigEndian.AppendUint64([]byte{last | text, 127}, size)
	piece := make([]byte, 32<<10)
	r := new(websocket.Reader)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var got []websocket.Message
	emit := func(m websocket.Message) { got = append(got, m) }
	err := r.Write(noon, head, emit)
	for range size / len(piece) {
		err = errors.Join(err, r.Write(noon, piece, emit))
	}
	runtime.ReadMemStats(&after)
	if err != nil || len(got) != 1 || got[0].Size != size || !got[0].Cut {
		t.Fatal(got, err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("it took %d bytes of memory", grown)
	}
}

func TestWhatCannotBeReadIsGivenUp(t *testing.T) {
	tooLong := binary.BigEndian.AppendUint64([]byte{last | text, 127}, 1<<63)
	for name, c := range map[string]struct {
		bytes []byte
		want  error
	}{
		"a compressed frame": {frame(last|0x40|text, nil, "hello"), websocket.ErrExtended},
		"an empty one":       {frame(last|0x10|text, nil, ""), websocket.ErrExtended},
		"a length of 2^63":   {tooLong, websocket.ErrLength},
	} {
		r := new(websocket.Reader)
		got, err := read(r, frame(last|text, nil, "before"), c.bytes, frame(last|text, nil, "after"))
		if !errors.Is(err, c.want) || len(got) != 1 || got[0].Text != "before" {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(frame(text, []byte{1, 2, 3, 4}, "he"), uint64(1))
	f.Add(frame(last|text, nil, strings.Repeat("x", 300)), uint64(2))
	f.Fuzz(func(t *testing.T, all []byte, seed uint64) {
		luck := rand.New(rand.NewPCG(seed, seed))
		var writes [][]byte
		for rest := all; len(rest) > 0; {
			n := 1 + luck.IntN(len(rest))
			writes, rest = append(writes, rest[:n]), rest[n:]
		}
		inOne, err := read(&websocket.Reader{Limit: 64}, all)
		inMany, same := read(&websocket.Reader{Limit: 64}, writes...)
		for i := range inMany {
			inMany[i].Began = noon
		}
		if diff := cmp.Diff(inOne, inMany); diff != "" || !errors.Is(err, same) {
			t.Error(err, same, diff)
		}
	})
}
