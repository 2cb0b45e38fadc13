package diagnosis

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Share is what one part fills of a prompt.
type Share struct {
	Part     exchange.Part
	Sections int    // how many are of this part
	Bytes    int64  // of all of them
	Tokens   *int64 // an estimate: the prompt's tokens, shared out by bytes; nil where they are unknown
}

// Composition says what fills the prompt of x, the largest part first. It is nil
// where the prompt could not be read. The shares add up to the prompt.
func Composition(x *exchange.Exchange) []Share {
	var shares []Share
	for _, part := range exchange.Parts() {
		if s := shareOf(x.Prompt, part); s.Bytes > 0 {
			shares = append(shares, s)
		}
	}
	if x.PromptTokens != nil {
		shareOut(*x.PromptTokens, shares)
	}
	slices.SortStableFunc(shares, func(a, b Share) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return shares
}

func shareOf(prompt []exchange.Boundary, part exchange.Part) Share {
	s := Share{Part: part}
	for _, b := range prompt {
		if b.Part != part {
			continue
		}
		if s.Bytes += b.Bytes; !b.Inner {
			s.Sections++
		}
	}
	return s
}

// shareOut divides tokens by bytes. Rounding the sums keeps the whole.
func shareOut(tokens int64, shares []Share) {
	var all, bytes, given int64
	for _, s := range shares {
		all += s.Bytes
	}
	for i := range shares {
		bytes += shares[i].Bytes
		upTo := int64(math.Round(float64(tokens) * float64(bytes) / float64(all)))
		shares[i].Tokens = new(upTo - given)
		given = upTo
	}
}
