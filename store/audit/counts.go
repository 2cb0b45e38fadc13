package audit

// plus adds up what is stated.
func (n Counts) plus(m Counts) Counts {
	return Counts{
		Input:      sum(n.Input, m.Input, 1),
		Cached:     sum(n.Cached, m.Cached, 1),
		CacheWrite: sum(n.CacheWrite, m.CacheWrite, 1),
		Output:     sum(n.Output, m.Output, 1),
		Reasoning:  sum(n.Reasoning, m.Reasoning, 1),
	}
}

// sum is a and b times by; nil where neither is known.
func sum(a, b *int64, by int64) *int64 {
	switch {
	case b == nil:
		return a
	case a == nil:
		return new(*b * by)
	}
	return new(*a + *b*by)
}

// asLog gives a row's counts as the log counts, by the habit of its console. What
// the row does not state of the cached tokens is taken from the attempt, if there
// is one.
func (t *there) asLog(k habit, h *here) Counts {
	n := t.Counts
	cached, written, thought := n.Cached, n.CacheWrite, n.Reasoning
	if h != nil {
		cached, written, thought = known(cached, h.Cached), known(written, h.CacheWrite), known(thought, h.Reasoning)
	}
	if n.Input != nil && k%exceptThought >= exceptCached {
		n.Input = sum(n.Input, cached, 1)
	}
	if n.Input != nil && k%exceptThought == exceptWritten {
		n.Input = sum(n.Input, written, 1)
	}
	if n.Output != nil && k >= exceptThought {
		n.Output = sum(n.Output, thought, 1)
	}
	return n
}

func known(a, b *int64) *int64 {
	if a != nil {
		return a
	}
	return b
}

// countNames are the counts as they are named in a reason.
var countNames = [...]struct {
	of  func(*Counts) *int64
	say Words
}{
	{func(n *Counts) *int64 { return n.Input }, Words{"Input", "输入"}},
	{func(n *Counts) *int64 { return n.Cached }, Words{"Cached", "缓存命中"}},
	{func(n *Counts) *int64 { return n.CacheWrite }, Words{"Written to the cache", "写入缓存"}},
	{func(n *Counts) *int64 { return n.Output }, Words{"Output", "输出"}},
	{func(n *Counts) *int64 { return n.Reasoning }, Words{"Reasoning", "思考"}},
}

// comparison of two counts: what differs, in words, and whether that is more
// than an estimate may.
func unequal(here, there Counts, estimated bool) (reasons []Words, beyond bool) {
	for _, n := range countNames {
		a, b := n.of(&here), n.of(&there)
		if !differ(a, b) {
			continue
		}
		reasons = append(reasons, Words{
			"${count}: ${here} here, ${there} there (${by}).", "${count}：本地 ${here}，控制台 ${there}（${by}）。",
		}.with("count", n.say, "here", a, "there", b, "by", signed(*b-*a)))
		beyond = beyond || !estimated || abs(*a-*b) > tolerance(*a)
	}
	return reasons, beyond
}

func signed(n int64) string {
	if n > 0 {
		return "+" + thousands(n)
	}
	return thousands(n)
}
