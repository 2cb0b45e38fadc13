package experiment

import (
	"cmp"
	"slices"
)

// judgeLoad says from how many requests at a time on the first token waits longer
// than with the fewest: most of them, or more of them than by chance.
func (f *finder) judgeLoad() {
	arms := f.byLoad()
	var leaves, last *Change // the first that is slower, and that with the most at a time
	var at, most int
	for _, arm := range arms[1:] {
		c := f.compare(arms[0], arm)
		if c == nil {
			continue
		}
		last, most = c, f.Arms[arm].AtOnce
		if leaves == nil && c.found() == Slower {
			leaves, at = c, most
		}
	}
	f.sayLimits(arms)
	crowded, open := f.crowded(arms)
	switch {
	case crowded != nil && (leaves == nil || crowded.at < at):
		f.verdict(Slower, Sentence{
			"From ${at} requests at a time on some wait: a queue.",
			"同时 ${at} 个请求起，一部分开始等待：有排队。",
		}.with(figures{"at": count(crowded.at)}).then(crowded.words()))
	case leaves != nil:
		f.verdict(Slower, Sentence{
			"From ${at} requests at a time on the first token waits: a queue, or a server that shares itself.",
			"同时 ${at} 个请求起，首字开始变慢：排队，或服务端分摊算力。",
		}.with(figures{"at": count(at)}).then(leaves.words()))
	case last == nil:
		f.verdict(Unresolved, lacksArm)
	case last.found() == Unresolved:
		f.verdict(Unresolved, last.words())
	case open != nil:
		f.verdict(Unresolved, open.words().then(moreRounds))
	default:
		f.verdict(Same, Sentence{
			"Up to ${at} requests at a time the first token does not wait.",
			"同时 ${at} 个请求以内，首字不变慢。",
		}.with(figures{"at": count(most)}).then(last.words()))
	}
}

// crowded is the arm with the fewest requests at a time of which more were spikes
// than by chance; open one of which some were, and of those with fewer none. Nil
// for none.
func (f *finder) crowded(arms []int) (crowded, open *crowding) {
	for _, c := range f.crowdings(arms) {
		switch {
		case c.spikes == 0:
		case c.chance() < byChance:
			return &c, nil
		case c.before == 0:
			open = &c
		}
	}
	return nil, open
}

// byLoad are the arms, those with the fewest requests at a time first.
func (f *finder) byLoad() []int {
	arms := make([]int, len(f.Arms))
	for i := range arms {
		arms[i] = i
	}
	slices.SortStableFunc(arms, func(i, j int) int { return cmp.Compare(f.Arms[i].AtOnce, f.Arms[j].AtOnce) })
	return arms
}

// sayLimits tells where rate limits set in.
func (f *finder) sayLimits(arms []int) {
	for _, arm := range arms {
		if a := f.Arms[arm]; a.RateLimited > 0 {
			f.say(Sentence{
				"At ${at} at a time ${n} of ${sent} requests were refused by a rate limit (429), which is no slowness.",
				"同时 ${at} 个时，${sent} 个请求中有 ${n} 个被限流（429），这不算慢。",
			}.with(figures{"at": count(a.AtOnce), "n": count(a.RateLimited), "sent": count(a.Sent)}))
			return
		}
	}
}
