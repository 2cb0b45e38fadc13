package probe

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// lexicon is what prompts are made of: common words, each of which, with the blank
// before it, is one token of the encodings in use.
var lexicon = strings.Fields(`
	time year people way day man thing woman life child world school state family student group country problem hand part
	place case week company system program question work government number night point home water room mother area money
	story fact month lot right study book eye job word business issue side kind head house service friend father power hour
	game line end member law car city community name president team minute idea body information back parent face others
	level office door health person art war history party result change morning reason research girl guy moment air teacher
	force education foot boy age policy music market sense nation plan college interest death experience effect use class
	control care field development role effort rate heart drug show leader light voice wife whole police mind price report
	decision son view relationship town road arm difference value building action season society tax director position
	player record paper space ground form event official matter center couple site project activity star table need court
	oil situation cost industry figure street image phone data picture practice piece land product doctor wall patient
	worker news test movie north love support technology step baby computer type attention film tree source truth`)

// luck draws the same for the same seed and names.
func luck(seed uint64, names ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%#v", names)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// passage is n words.
func passage(r *rand.Rand, n int) string {
	words := make([]string, max(n, 0))
	for i := range words {
		words[i] = lexicon[r.IntN(len(lexicon))]
	}
	return strings.Join(words, " ")
}

// nonce is a beginning that no earlier prompt has, so that no cache knows what
// follows. It is as long as any other.
func nonce(r *rand.Rand) string { return fmt.Sprintf("Note %08d %08d:", r.IntN(1e8), r.IntN(1e8)) }
