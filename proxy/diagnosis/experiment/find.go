package experiment

import (
	"slices"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// finder makes a report.
type finder struct {
	*Report
	rows []row
}

// judges say what is found, each for a kind.
var judges = map[Kind]func(*finder){
	Ladder:  (*finder).judgeLadder,
	Burst:   (*finder).judgeBurst,
	Cache:   (*finder).judgeCache,
	History: (*finder).judgeHistory,
	Models:  (*finder).judgeModels,
	Shapes:  (*finder).judgeShapes,
	Load:    (*finder).judgeLoad,
	Direct:  (*finder).judgeDirect,
}

// Find says what an experiment found, from those of its exchanges that are in
// the log so far, in any order. The same exchanges make the same report.
func Find(run Run, rows []*exchange.Exchange) *Report {
	f := &finder{Report: newReport(run), rows: taken(run.Plan, rows)}
	f.Spikes = markSpikes(f.rows, len(f.Arms))
	f.tell()
	f.judge()
	f.check()
	return f.Report
}

// tell sets what the rows tell arm by arm.
func (f *finder) tell() {
	f.Sent = len(f.rows)
	for i := range f.Arms {
		f.Arms[i].tell(ofArm(f.rows, i))
	}
	for _, r := range f.rows {
		f.Samples = append(f.Samples, r.Sample)
	}
}

func newReport(run Run) *Report {
	p := run.Plan
	r := &Report{
		ID: run.ID, Kind: p.Kind, Wire: p.Wire, Command: p.Command, StartedAt: run.StartedAt, EndedAt: run.EndedAt,
		State: Running, Planned: len(p.Steps), Models: []string{}, Upstreams: []string{}, Found: []Finding{}, Says: []Sentence{},
		Arms: []ArmReport{}, Changes: []Change{}, Lines: []Line{}, Parts: []Part{}, Checks: []Check{}, Samples: []Sample{},
	}
	switch {
	case run.Stopped:
		r.State = Stopped
	case run.EndedAt != nil:
		r.State = Done
	}
	for _, a := range p.Arms {
		r.Models, r.Upstreams = with(r.Models, a.Model), with(r.Upstreams, a.Upstream)
		r.Arms = append(r.Arms, ArmReport{Arm: a})
	}
	for _, s := range p.Steps {
		r.Rounds = max(r.Rounds, s.Round+1)
		if s.Arm >= 0 && s.Arm < len(r.Arms) {
			r.Arms[s.Arm].Planned++
		}
	}
	return r
}

func with(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// judge finds the verdict: why there can be none, or what the kind tells.
func (f *finder) judge() {
	answered := 0
	for _, a := range f.Arms {
		answered += a.Answered
	}
	judge := judges[f.Kind]
	switch {
	case f.Sent == 0:
		f.verdict(Unresolved, Sentence{"No request of it is in the log yet.", "日志中还没有它的请求。"})
	case 2*answered < f.settledSteps():
		f.verdict(Failing, f.whyFailing(answered))
	case judge == nil:
		f.verdict(Unresolved, Sentence{"It is of a kind that this version does not know.", "本版本不认识这种实验。"})
	default:
		judge(f)
	}
}

// settledSteps is how many steps have an end. One that a rate limit has sent back
// and that was answered later is one, not two.
func (f *finder) settledSteps() int {
	steps := make(map[int]bool)
	for _, r := range f.rows {
		if r.answered() || r.limited() || r.failed() {
			steps[r.Step] = true
		}
	}
	return len(steps)
}

// verdict sets what is said first.
func (f *finder) verdict(found Finding, s Sentence) {
	f.Verdict = s
	f.Found = append([]Finding{found}, f.Found...)
}

// say adds what else is told.
func (f *finder) say(s Sentence) { f.Says = append(f.Says, s) }

// also adds a finding that is not the verdict.
func (f *finder) also(found Finding, s Sentence) {
	f.Found = append(f.Found, found)
	f.say(s)
}

// hidden is why most first tokens tell nothing of prefill, "" where most do.
func (f *finder) hidden() Finding {
	counts := make(map[Finding]int)
	told := 0
	for _, r := range f.rows {
		switch {
		case !r.answered():
		case hides(r.x) != "":
			counts[hides(r.x)]++
		default:
			told++
		}
	}
	for _, why := range []Finding{HiddenReasoning, Buffered} {
		if counts[why] > told {
			return why
		}
	}
	return ""
}

var hiding = map[Finding]Sentence{
	HiddenReasoning: {
		"Not resolved: reasoning that is not shown comes before the first token, so the time up to it is no prefill. A model or a setting without hidden reasoning would tell (a low reasoning effort, for one).",
		"无法判断：首 token 之前有未显示的推理，这段时间不是预填充（Prefill）。换不隐藏推理的模型或设置（如调低推理强度）即可分辨。",
	},
	Buffered: {
		"Not resolved: something between model and proxy holds the answer back and sends it in bursts or at once, so the first token comes with later ones. A way without that box would tell.",
		"无法判断：模型与代理之间有环节攒着回答成批发送，首 token 与后面的一起到达。换一条不缓冲的线路即可分辨。",
	},
}

// obscured gives the verdict where first tokens tell nothing of prefill.
func (f *finder) obscured() bool {
	why := f.hidden()
	if why == "" {
		return false
	}
	f.verdict(why, hiding[why])
	return true
}

func (f *finder) whyFailing(answered int) Sentence {
	limited, worst := 0, Failure{}
	for _, a := range f.Arms {
		limited += a.RateLimited
		if len(a.Failures) > 0 && a.Failures[0].Count > worst.Count {
			worst = a.Failures[0]
		}
	}
	figs := figures{"answered": count(answered), "sent": count(f.asked()), "limited": count(limited), "worst": worst.words()}
	if limited > worst.Count {
		return Sentence{
			"Only ${answered} of ${sent} requests were answered: ${limited} were refused by a rate limit (429). That is no slowness; a longer pause between requests or fewer at once would do.",
			"${sent} 个请求只有 ${answered} 个得到回答：${limited} 个被限流（429）。这不是慢；拉长间隔或减少并发即可。",
		}.with(figs)
	}
	return Sentence{
		"Only ${answered} of ${sent} requests were answered; most of the others: ${worst}. `ttftap doctor` looks for the setting that is wrong.",
		"${sent} 个请求只有 ${answered} 个得到回答，其余多为：${worst}。`ttftap doctor` 可查出哪项设置有误。",
	}.with(figs)
}
