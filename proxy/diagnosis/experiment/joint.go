package experiment

import "slices"

// Joint is what several experiments against one upstream say together.
type Joint struct {
	IDs     []string   `json:"ids"`
	Verdict Sentence   `json:"verdict"` // where a slow first token comes from, and what decode costs
	Found   []Finding  `json:"found"`   // the first is the verdict's, the others those of Says
	Says    []Sentence `json:"says"`    // the verdicts of the others
	Parts   []Part     `json:"parts"`   // of the first token of the longest prompt, and of decode
}

// Join says what several reports tell together: the ladder what a first token is
// made of, the burst what comes and goes, and the rest what they found.
func Join(reports []*Report) *Joint {
	j := &Joint{IDs: []string{}, Found: []Finding{}, Says: []Sentence{}, Parts: []Part{}}
	j.judgeFirst(ofKind(reports, Ladder), ofKind(reports, Burst))
	for _, r := range reports {
		j.IDs = append(j.IDs, r.ID)
		if r.Verdict != j.Verdict {
			j.Found = append(j.Found, r.first())
			j.Says = append(j.Says, Sentence{"${kind}: ", "${kind}："}.with(figures{"kind": r.Kind.Name()}).join(r.Verdict))
		}
	}
	j.judgeDecode(reports)
	return j
}

// ofKind is the first report of a kind, nil without one.
func ofKind(reports []*Report, kind Kind) *Report {
	if i := slices.IndexFunc(reports, func(r *Report) bool { return r.Kind == kind }); i >= 0 {
		return reports[i]
	}
	return nil
}

// part is one of the report's parts, nil where it has none such.
func (r *Report) part(of Finding) *Part {
	if r == nil {
		return nil
	}
	if i := slices.IndexFunc(r.Parts, func(p Part) bool { return p.Of == of }); i >= 0 {
		return &r.Parts[i]
	}
	return nil
}

// first is the finding of the verdict.
func (r *Report) first() Finding {
	if r == nil || len(r.Found) == 0 {
		return Unresolved
	}
	return r.Found[0]
}

// judgeFirst says where a slow first token comes from. What the ladder finds is
// true of each request; a queue that comes and goes, which the burst finds, adds
// to it where the server does not tell of it anyway, and is the answer where it
// takes at least twice as much on average.
func (j *Joint) judgeFirst(ladder, burst *Report) {
	steady := ladder
	if steady == nil || len(steady.Parts) == 0 {
		steady = burst
	}
	if steady == nil || len(steady.Parts) == 0 {
		j.judgeNothing(ladder, burst)
		return
	}
	j.Parts = append(j.Parts, steady.Parts...)
	var queue *Part
	if burst.first() == FoundQueue && steady.part(FoundQueue) == nil {
		queue = burst.part(FoundQueue)
		j.Parts = append(j.Parts, *queue)
	}
	top := steady.Parts[0]
	switch {
	case queue == nil || 2*queue.MS.At <= top.MS.At:
		j.found(steady.first(), steady.Verdict)
	case queue.MS.At >= 2*top.MS.At:
		j.found(FoundQueue, burst.Verdict)
	default:
		j.found(Unresolved, Sentence{
			"Not resolved which is larger: a queue that comes and goes takes ${queue} on average, and of a long prompt's first token ${name} is ${ms}.",
			"无法判断哪项更大：时有时无的排队平均 ${queue}；长输入的首字中，${name} ${ms}。",
		}.with(figures{"queue": took(queue.MS.At), "name": top.Name, "ms": ranged(top.MS, took)}))
	}
}

// judgeNothing says why nothing tells the parts of a first token.
func (j *Joint) judgeNothing(ladder, burst *Report) {
	for _, r := range []*Report{ladder, burst} {
		if r != nil {
			j.found(r.first(), r.Verdict)
			return
		}
	}
	j.found(Unresolved, Sentence{
		"Not resolved where a first token comes from: that takes a ladder or a burst.",
		"无法判断首字慢在哪里：需要 ladder 或 burst 实验。",
	})
}

func (j *Joint) found(f Finding, s Sentence) {
	j.Found, j.Verdict = append(j.Found, f), s
}

// judgeDecode adds what a token of the answer costs.
func (j *Joint) judgeDecode(reports []*Report) {
	cost := decodeOf(reports)
	if cost == nil {
		j.Verdict = j.Verdict.then(Sentence{
			"What decode costs is not resolved: no answer was long enough for a rate.",
			"解码开销无法判断：没有足够长的回答可算速度。",
		})
		return
	}
	j.Parts = append(j.Parts, newPart(FoundDecode, *cost))
	j.Verdict = j.Verdict.then(Sentence{
		"Decode costs ${cost} a token, so an answer of 1,000 tokens takes ${long}.",
		"解码每 token ${cost}，1,000 tokens 的回答要 ${long}。",
	}.with(figures{"cost": ranged(*cost, took), "long": took(1000 * cost.At)}))
}

// decodeOf is the time of a token where the answers were longest, nil where no arm
// has a rate.
func decodeOf(reports []*Report) *Estimate {
	var longest *ArmReport
	for _, r := range reports {
		for i := range r.Arms {
			a := &r.Arms[i]
			if a.Rate != nil && a.Rate.At > 0 && a.Output != nil && (longest == nil || a.Output.At > longest.Output.At) {
				longest = a
			}
		}
	}
	if longest == nil {
		return nil
	}
	return new(longest.Rate.inverse())
}
