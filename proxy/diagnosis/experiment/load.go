package experiment

// judgeLoad says from how many requests at a time the first token waits longer
// than alone. The arms are in the order of their number, the first the least.
func (f *finder) judgeLoad() {
	var leaves *Change
	var at int
	var last *Change
	for arm := 1; arm < len(f.Arms); arm++ {
		last = f.compare(0, arm)
		if leaves == nil && last.found() == Slower {
			leaves, at = last, f.Arms[arm].AtOnce
		}
	}
	f.sayLimits()
	switch {
	case leaves != nil:
		f.verdict(Slower, Sentence{
			"From ${at} requests at a time on the first token waits: a queue, or a server that shares itself.",
			"同时 ${at} 个请求起，首字开始变慢：排队，或服务端分摊算力。",
		}.with(figures{"at": count(at)}).then(leaves.words()))
	case last == nil:
		f.verdict(Unresolved, lacksArm)
	case last.found() == Unresolved:
		f.verdict(Unresolved, last.words())
	default:
		f.verdict(Same, Sentence{
			"Up to ${at} requests at a time the first token does not wait.",
			"同时 ${at} 个请求以内，首字不变慢。",
		}.with(figures{"at": count(f.Arms[len(f.Arms)-1].AtOnce)}).then(last.words()))
	}
}

// sayLimits tells where rate limits set in.
func (f *finder) sayLimits() {
	for _, a := range f.Arms {
		if a.RateLimited > 0 {
			f.say(Sentence{
				"At ${at} at a time ${n} of ${sent} requests were refused by a rate limit (429), which is no slowness.",
				"同时 ${at} 个时，${sent} 个请求中有 ${n} 个被限流（429），这不算慢。",
			}.with(figures{"at": count(a.AtOnce), "n": count(a.RateLimited), "sent": count(a.Sent)}))
			return
		}
	}
}
