package probe

import (
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

func TestEachWordIsOneToken(t *testing.T) {
	for _, c := range []*codec.Codec{codec.NewO200kBase(), codec.NewCl100kBase()} {
		for _, word := range lexicon {
			if n, err := c.Count(" " + word); n != 1 || err != nil {
				t.Errorf("%q is %d tokens of %s, %v", word, n, c.GetName(), err)
			}
		}
	}
}

func TestASeedAlwaysDrawsTheSamePassage(t *testing.T) {
	first := passage(luck(7, "cold", 1), 50)
	if again := passage(luck(7, "cold", 1), 50); again != first {
		t.Errorf("%q, then %q", first, again)
	}
	for _, other := range []string{passage(luck(8, "cold", 1), 50), passage(luck(7, "cold", 2), 50), passage(luck(7, "colder", 1), 50)} {
		if other == first {
			t.Error("another seed or another name gives the same passage")
		}
	}
}

func TestNoncesDifferButNotInLength(t *testing.T) {
	seen := map[string]bool{}
	for i := range 1000 {
		n := nonce(luck(1, i))
		if seen[n] || len(n) != len("Note 00000000 00000000:") {
			t.Fatalf("%q", n)
		}
		seen[n] = true
	}
}
