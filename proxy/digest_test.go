package proxy

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func digesterOf(t *testing.T, secret string) *digester {
	t.Helper()
	d, err := newDigester([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The hashes are in logs: what changes them makes every prompt a new one.
func TestAHashIsTheSameInEveryVersion(t *testing.T) {
	d := digesterOf(t, "a secret of this install")
	long := bytes.Repeat([]byte("a text, "), stretch/8)
	for _, c := range []struct {
		text []byte
		want uint64
	}{{nil, 0x5a5d73ef6a63aa65}, {[]byte("hello"), 0xfc44ebd752723630}, {long, 0x2b8dde77952ca648}} {
		if got := d.next(7, byte(exchange.UserPart), c.text); got != c.want {
			t.Errorf("%d bytes have the hash %#x, want %#x", len(c.text), got, c.want)
		}
	}
}

func TestEachThingThatIsHashedTellsHashesApart(t *testing.T) {
	d := digesterOf(t, "a secret")
	seen := map[uint64]string{}
	for name, hash := range map[string]uint64{
		"text":            d.next(1, 2, []byte("text")),
		"another text":    d.next(1, 2, []byte("tex7")),
		"filled up":       d.next(1, 2, []byte("text\x00")),
		"a block more":    d.next(1, 2, append([]byte("text"), make([]byte, 16)...)),
		"another before":  d.next(3, 2, []byte("text")),
		"another label":   d.next(1, 3, []byte("text")),
		"another install": digesterOf(t, "another secret").next(1, 2, []byte("text")),
		"nothing":         d.next(1, 2, nil),
	} {
		if other, ok := seen[hash]; ok {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[hash] = name
	}
}

func TestWhereATextIsCutDoesNotMatter(t *testing.T) {
	d := digesterOf(t, "a secret")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 0, 3*stretch).Draw(t, "text")
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		whole, parts := chain{digester: d}, chain{digester: d}
		whole.hash(1, text, nil)
		parts.hash(1, text[:at], text[at:])
		if whole.last != parts.last {
			t.Fatalf("%d bytes, cut at %d, have another hash", len(text), at)
		}
	})
}

// BenchmarkChain hashes the prompt of 256 KiB that one section is.
func BenchmarkChain(b *testing.B) {
	d, err := newDigester([]byte("a secret"))
	if err != nil {
		b.Fatal(err)
	}
	text := bytes.Repeat([]byte("word "), 256<<10/5)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		c := chain{digester: d}
		for rest := text; len(rest) > 0; rest = rest[min(stretch, len(rest)):] {
			c.link(exchange.Boundary{Part: exchange.UserPart}, rest[:min(stretch, len(rest))], nil)
		}
	}
}
