package experiment

import (
	"cmp"
	"maps"
	"slices"
)

// Part is one part of the time of a request.
type Part struct {
	Of   Finding  `json:"of"` // FoundNetwork, FoundFloor, FoundQueue, FoundPrefill or FoundDecode
	Name Sentence `json:"name"`
	MS   Estimate `json:"ms"` // of one request; of one token for decode
}

var partNames = map[Finding]Sentence{
	FoundNetwork: {"network", "网络"},
	FoundFloor:   {"fixed start", "固定开销"},
	FoundQueue:   {"queue", "排队"},
	FoundPrefill: {"prefill", "预填充"},
	FoundDecode:  {"decode, a token", "解码（每 token）"},
}

func newPart(of Finding, ms Estimate) Part { return Part{Of: of, Name: partNames[of], MS: ms} }

// portion is one part of a first token's time as several requests or rounds have it.
type portion struct {
	of Finding
	ms map[int]float64
}

// rank orders portions by their medians, the largest first, leaving out those
// that nobody knows. The first is surely the largest if its difference from each
// other, within a request or round, is surely more than nothing.
func rank(all []portion) (ranked []portion, sure bool) {
	for _, p := range all {
		if len(p.ms) > 0 {
			ranked = append(ranked, p)
		}
	}
	slices.SortStableFunc(ranked, func(p, q portion) int { return cmp.Compare(q.estimate().At, p.estimate().At) })
	for i, p := range ranked {
		if i > 0 && !middle(paired(p.ms, ranked[0].ms)).above(0) {
			return ranked, false
		}
	}
	return ranked, len(ranked) > 0
}

func (p portion) estimate() Estimate {
	return *middle(slices.Collect(maps.Values(p.ms)))
}

// setParts keeps what the portions are of one request, in the order of ranks.
func (f *finder) setParts(ranked []portion) {
	for _, p := range ranked {
		f.Parts = append(f.Parts, newPart(p.of, p.estimate().notBelow(0)))
	}
}

// shares lists the parts with their figures.
func shares(parts []Part) Sentence {
	var all []Sentence
	for _, p := range parts {
		all = append(all, Sentence{"${name} ${ms}", "${name} ${ms}"}.with(figures{"name": p.Name, "ms": ranged(p.MS, took)}))
	}
	return list(all)
}
