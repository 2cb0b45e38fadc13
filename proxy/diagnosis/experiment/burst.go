package experiment

import "slices"

// judgeBurst tells network, start and queue apart by short prompts alike: what is
// as high for all is network or start, what comes and goes is queue. The first arm
// is that of prompts that no cache knows.
func (f *finder) judgeBurst() {
	if f.obscured() {
		return
	}
	if len(f.Arms) > 1 {
		f.compare(0, 1)
	}
	rows := slices.DeleteFunc(ofArm(f.rows, 0), func(r row) bool { return r.Wait == nil || r.Network == nil })
	if len(rows) < fewValues {
		f.verdict(Unresolved, Sentence{
			"Not resolved: ${n} answers are too few; five at least would tell.",
			"无法判断：只有 ${n} 个回答，至少要五个。",
		}.with(figures{"n": count(len(rows))}))
		return
	}
	b := spread(rows)
	switch {
	case b.cold:
		f.also(FoundColdStart, b.coldStart())
		f.judgeLevel(rows[1:])
	case b.queued():
		f.judgeQueue(b)
	case b.wide():
		f.verdict(Unresolved, b.openStart())
	default:
		f.judgeLevel(rows)
		f.saySpikes()
	}
}

// waits is how those of a burst are spread.
type waits struct {
	fastest float64
	all     float64 // sum of first tokens
	excess  float64 // sum of the waits beyond the fastest
	slow    int     // requests that waited more than twice as long as the fastest, and 50 ms more
	of      int
	usual   float64 // median
	first   float64 // excess of the first
	cold    bool    // the first alone was slow
}

func spread(rows []row) waits {
	w := waits{fastest: *rows[0].Wait, of: len(rows)}
	for _, r := range rows {
		w.fastest = min(w.fastest, *r.Wait)
	}
	for _, r := range rows {
		w.all += *r.TTFT
		w.excess += *r.Wait - w.fastest
		if w.isSlow(r) {
			w.slow++
		}
	}
	w.usual = middle(known(rows, func(r row) *float64 { return r.Wait })).At
	w.first = *rows[0].Wait - w.fastest
	w.cold = w.slow == 1 && w.isSlow(rows[0]) && rows[0].Over != nil
	return w
}

func (w waits) isSlow(r row) bool { return *r.Wait > 2*w.fastest+spikeLeast }

// queued says whether most of the time to first tokens was wait beyond what the
// fastest needed, or most requests met such a wait; and not by a single one.
func (w waits) queued() bool { return w.slow > 1 && (w.excess > w.all/2 || 2*w.slow > w.of) }

// wide says whether the waits are spread too far for a start alone, which is much
// the same for like requests.
func (w waits) wide() bool { return w.usual > 1.5*w.fastest+spikeLeast }

func (w waits) openStart() Sentence {
	return Sentence{
		"Not resolved: like prompts waited ${fastest} at the least and ${usual} in the median. That is too far apart for a start alone, and too even for a queue that comes and goes: a queue that is always there, most likely. The server's own timing, or another hour, would tell.",
		"无法判断：相同的短请求最少等待 ${fastest}，中位数 ${usual}。只是固定开销不会差这么多，时有时无的排队又不会这么均匀：多半是一直存在的排队。有服务端自报时间或换时段即可分辨。",
	}.with(figures{"fastest": took(w.fastest), "usual": took(w.usual)})
}

func (w waits) coldStart() Sentence {
	return Sentence{
		"The first request alone waited ${first} longer than the fastest: a cold start, most likely. It is left out of the parts.",
		"只有第一个请求比最快的多等 ${first}：多半是冷启动，各项中不计入。",
	}.with(figures{"first": took(w.first)})
}

func (f *finder) judgeQueue(w waits) {
	mean := w.excess / float64(w.of)
	f.Parts = append(f.Parts, newPart(FoundQueue, Estimate{At: mean, N: w.of}), newPart(FoundFloor, Estimate{At: w.fastest, N: w.of}))
	if n := f.Arms[0].Network; n != nil {
		f.Parts = append(f.Parts, newPart(FoundNetwork, *n))
	}
	f.verdict(FoundQueue, Sentence{
		"Queue: like prompts waited very differently. The fastest took ${fastest} to start, ${slow} of ${of} more than twice that, and on average ${mean} was spent beyond it, ${share} of the time to the first token. Fewer requests at once, another hour or a less busy server would cut it.",
		"排队：相同的短请求等待相差很大。最快的只需 ${fastest}，${of} 个中有 ${slow} 个超过其两倍；平均多等 ${mean}，占首字延迟的 ${share}。减少并发、换时段或换空闲的服务端可以减少。",
	}.with(figures{
		"fastest": took(w.fastest), "slow": count(w.slow), "of": count(w.of), "mean": took(mean), "share": share(w.excess / w.all),
	}))
}

// judgeLevel says what makes up the time that all of the requests took.
func (f *finder) judgeLevel(rows []row) {
	starts, networks, queues := make(map[int]float64), make(map[int]float64), make(map[int]float64)
	for _, r := range rows {
		starts[r.Step], networks[r.Step] = *r.settled(Wait), *r.settled(Network)
		if q := r.queue(); q != nil {
			starts[r.Step], queues[r.Step] = max(*r.Wait-*q, 0), *q
		}
	}
	ranked, sure := rank([]portion{{FoundFloor, starts}, {FoundNetwork, networks}, {FoundQueue, queues}})
	f.setParts(ranked)
	figs := figures{"parts": shares(f.Parts), "ttft": ranged(*f.Arms[0].TTFT, took)}
	lead := Sentence{"A short prompt's first token took ${ttft}: ${parts}.", "短输入的首字 ${ttft}：${parts}。"}
	if !sure {
		f.verdict(Unresolved, lead.then(Sentence{
			"Not resolved which of them is the larger: more requests would tell, or they are as good as equal.",
			"无法判断哪一项更大：增加请求可以分辨，也可能本就相当。",
		}).with(figs))
		return
	}
	f.verdict(ranked[0].of, lead.then(largest[ranked[0].of]).with(figs))
}
