package proxy

import (
	"bytes"
	"encoding/binary"
	"math/big"
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
	}{{nil, 0x6106174881a7366}, {[]byte("hello"), 0x602be1881e7fcae2}, {long, 0xd872bdf9e5f68b91}} {
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

// NH by the book: the sum of the products of neighbours, each with its key added.
func TestADigestIsNH(t *testing.T) {
	d := digesterOf(t, "a secret")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 0, stretch).Draw(t, "text")
		var words [stretch / 8]uint64
		_, _ = binary.Decode(append(bytes.Clone(text), make([]byte, stretch-len(text))...), binary.LittleEndian, &words)
		sum := new(big.Int)
		for i := 0; i < min(len(words), len(text)/16*2+2); i += 2 {
			a, b := new(big.Int).SetUint64(words[i]+d.words[i]), new(big.Int).SetUint64(words[i+1]+d.words[i+1])
			sum.Add(sum, a.Mul(a, b))
		}
		high, low := d.digest(text)
		got := new(big.Int).Add(new(big.Int).Lsh(new(big.Int).SetUint64(high), 64), new(big.Int).SetUint64(low))
		if want := sum.And(sum, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))); got.Cmp(want) != 0 {
			t.Fatalf("%d bytes have the digest %x, want %x", len(text), got, want)
		}
	})
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
