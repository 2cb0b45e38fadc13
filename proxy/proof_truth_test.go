package proxy_test

import (
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// scored is an exchange with the truth about it.
type scored struct {
	site *site
	ask
	row
	truth *simulator.Truth // nil: the model was not reached
}

// parts is where the time of an exchange truly went.
type parts struct {
	network, floor, queue, load, prefill, decode, stall time.Duration
	hidden                                              time.Duration // of decode, what reasoning took that was not shown
}

func (p parts) wait() time.Duration  { return p.network + p.floor + p.queue + p.load + p.prefill }
func (p parts) total() time.Duration { return p.wait() + p.decode + p.stall }

func (s scored) parts() parts {
	t := s.truth
	p := parts{
		network: t.Started.Sub(s.StartedAt) + t.Network + s.row.network.RoundTrip/2,
		floor:   t.Floor, queue: t.Queue, load: t.Load, prefill: t.Prefill, decode: t.Span, hidden: t.Hidden,
	}
	if s.stalls() {
		p.stall, p.decode = t.Stall, t.Span-t.Stall
	}
	return p
}

// stalls says whether the stall was between two tokens of the answer.
func (s scored) stalls() bool {
	return s.truth.Stall > 0 && s.how.At != nil && *s.how.At < s.truth.OutputTokens-s.truth.ReasoningTokens
}

// dominant is the share from which a phase alone makes an exchange slow.
const dominant = 0.65

// label is the phase that made the exchange slow, "" where none did by itself.
func (s scored) label() string {
	if s.truth == nil || s.truth.OutputTokens == 0 || s.seen() == 0 {
		return ""
	}
	if (s.buffered() || s.comesWhole()) && s.truth.Stall > 0 { // which is not to be seen then
		return ""
	}
	p := s.parts()
	for _, phase := range []struct {
		name string
		took time.Duration
	}{
		{"network", p.network}, {"floor", p.floor}, {"queue", p.queue}, {"cold start", p.load}, {"prefill", p.prefill},
		{"decode", p.decode}, {"stall", p.stall},
	} {
		if share(phase.took, p.total()) > dominant && (phase.name == "stall" || share(p.stall, p.total()) < 0.25) {
			return phase.name
		}
	}
	return ""
}

func share(part, whole time.Duration) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// What could be known by the wire and by what came before.

// counted says whether the tokens were told.
func (s scored) counted() bool {
	optional := s.api == exchange.Chat || s.api == exchange.Completions
	return s.how.Usage == "" && !(optional && s.unasked && !s.ask.whole)
}

// uncached says whether the tokens that were to be read could be known.
func (s scored) uncached() bool {
	const few = 16
	switch {
	case !s.counted():
		return false
	case s.how.Cached == simulator.Unreported:
		return s.shared == 0
	}
	return s.how.Cached == "" || s.truth.CachedTokens < few
}

// curve says whether a baseline could split the wait.
func (s scored) curve() bool {
	return s.site.warm && s.uncached() && s.truth.PromptTokens-s.truth.CachedTokens <= s.site.longest*3/2
}

// told is what a server tells of its own timing.
type told struct{ queue, prefill, decode bool }

// tells is what each shape tells, and where.
var tells = map[simulator.Timings]struct {
	told
	responses bool // Responses tells it too
	usage     bool // it stands with the counts
}{
	simulator.LlamaTimings:     {told{false, true, true}, true, false},
	simulator.VLLMTimings:      {told{true, true, true}, true, true},
	simulator.GroqTimings:      {told{true, true, true}, false, true},
	simulator.CerebrasTimings:  {told{true, true, true}, false, false},
	simulator.FireworksTimings: {told{true, true, true}, false, false},
	simulator.LocalAITimings:   {told{false, true, true}, false, true},
	simulator.NIMTimings:       {told{true, false, false}, false, false},
}

func (s scored) told() told {
	head := s.how.Headers
	switch s.how.Timings {
	case simulator.FireworksHeaders:
		return told{s.ask.whole || head != simulator.AtAccept, s.ask.whole || head == simulator.AtToken, s.ask.whole}
	case simulator.TGIHeaders:
		return told{queue: s.ask.whole || head != simulator.AtAccept}
	}
	t := tells[s.how.Timings]
	switch {
	case s.api == exchange.Messages || t.usage && !s.counted():
		return told{}
	case s.api == exchange.Responses && (!t.responses || s.ask.whole && s.how.Timings == simulator.LlamaTimings):
		return told{}
	}
	return t.told
}

// unnoticed says whether there was reasoning of which nothing was to be seen. In
// Chat, without a count, it is but a silence; in Messages a summary goes by the
// name of the thing itself, unless it is too short for the tokens of the answer.
func (s scored) unnoticed() bool {
	switch {
	case !s.conceals():
		return false
	case s.api == exchange.Chat && s.how.Reasoning == simulator.Hidden:
		return s.how.Thoughts == simulator.Unreported || !s.counted()
	case s.api == exchange.Messages && s.how.Reasoning == simulator.Summary:
		bytes := 4*s.seen() + 77*(1+s.truth.ReasoningTokens/160)
		return !s.counted() || bytes >= 2*s.truth.OutputTokens
	}
	return false
}

// conceals says whether reasoning was not shown as it was made.
func (s scored) conceals() bool {
	return s.truth.ReasoningTokens > 0 && s.how.Reasoning != simulator.Visible
}

// paced says whether a time per token could be known: by this exchange, the
// server, or the model's others.
func (s scored) paced() bool {
	own := s.counted() && !s.ask.whole && !s.buffered() && !s.comesWhole() && s.seen() >= 64
	return own || s.site.warm || s.told().decode && s.counted()
}

// seen is the number of tokens that came as they were made.
func (s scored) seen() int {
	if s.conceals() {
		return s.truth.OutputTokens - s.truth.ReasoningTokens
	}
	return s.truth.OutputTokens
}

func (s scored) buffered() bool {
	return s.how.HopBytes > 0 || s.how.HopTime > 0 || s.how.Pseudo
}

// comesWhole says whether a call comes in one piece, and nothing else does.
func (s scored) comesWhole() bool {
	return s.tools && s.how.Whole && s.seen() > 8 && s.how.Reasoning != simulator.Visible && !s.ask.whole
}

// reasons says whether what reasoning took could be known.
func (s scored) reasons() bool {
	apart := s.how.Thoughts == simulator.Unreported || s.api == exchange.Messages
	return s.paced() && s.counted() && !apart
}

// veiled says whether something hid what was decode and what was wait.
func (s scored) veiled() bool {
	return s.buffered() || s.conceals() && !s.reasons() || s.comesWhole() && !(s.paced() && s.counted()) || s.unlike()
}

// unlike says whether what nobody saw was made at another rate than usual.
func (s scored) unlike() bool {
	unseen := s.comesWhole() || s.conceals() && s.seen() < 64
	rate := s.rate()
	return unseen && !s.told().decode && (rate > 1.25 || rate < 0.8)
}

// verdict is a bound with its cause.
type verdict struct {
	bound exchange.Bound
	cause string
}

func verdicts(bound exchange.Bound, causes ...string) []verdict {
	var vs []verdict
	for _, c := range causes {
		vs = append(vs, verdict{bound, c})
	}
	return vs
}

// undecided are the verdicts that say that nothing can tell.
var undecided = slices.Concat(
	verdicts(exchange.Unknown, "buffered", "hidden_reasoning", "not_streamed"),
	verdicts(exchange.WaitBound, "unseparated"), verdicts(exchange.PrefillBound, "unseparated"),
)

// want is what may be said of an exchange with a label, and whether what was on
// the wire could tell.
func (s scored) want() (right []verdict, tellable bool) {
	right, tellable = s.right()
	switch {
	case s.buffered(): // which blurs a share, and may make what comes slowly come whole
		right = append(right, verdict{exchange.Mixed, "both"}, verdict{exchange.DecodeBound, "whole_output"})
	case s.label() == "stall" && s.ask.whole: // and nobody sees when it comes
		right, tellable = verdicts(exchange.DecodeBound, "long_output", "hidden_reasoning"), false
	case s.label() == "decode" && s.conceals() && !s.reasons(): // but what is seen may be most
		right = append(right, verdict{exchange.DecodeBound, "long_output"})
	}
	if s.veiled() || s.ask.whole && !s.told().decode {
		tellable = false
	}
	if !tellable {
		right = append(right, undecided...)
	}
	if !tellable && s.missed() { // which is known, if not what it cost
		right = append(right, verdict{exchange.PrefillBound, "cache_miss"})
	}
	return right, tellable
}

// missed says whether the cache had little of what was sent before.
func (s scored) missed() bool { return s.shared > 0 && 3*s.truth.CachedTokens < s.shared }

// hit says whether it had most.
func (s scored) hit() bool { return s.shared > 0 && 10*s.truth.CachedTokens > 9*s.shared }

func (s scored) right() (right []verdict, tellable bool) {
	switch s.label() {
	case "network":
		return verdicts(exchange.WaitBound, "network"), true
	case "floor":
		return verdicts(exchange.WaitBound, s.start()...), s.curve()
	case "queue":
		return verdicts(exchange.WaitBound, s.line()...), s.curve() || s.told().queue
	case "cold start":
		return verdicts(exchange.WaitBound, s.wake()...), s.curve() || s.told().queue
	case "prefill":
		return verdicts(exchange.PrefillBound, s.reading()...), s.curve() || s.told().prefill
	case "stall":
		return verdicts(exchange.Stalled, "stall"), true
	}
	return verdicts(exchange.DecodeBound, s.generating()...), true
}

// start is what gateway and model need. Where a server tells nothing but its
// prefill, the rest counts as queue: the reason says that it may be either.
func (s scored) start() []string {
	if s.curve() || !s.told().prefill || s.told().queue {
		return []string{"floor"}
	}
	return []string{"floor", "queue", "cold_start"}
}

// line is a queue, or what looks like a cold start: the first request in a while,
// with no other that the proxy could see.
func (s scored) line() []string {
	first := s.ModelIdle == nil || *s.ModelIdle >= 10*time.Minute
	if first && *s.Concurrency == 1 {
		return []string{"queue", "cold_start"}
	}
	return []string{"queue"}
}

// wake is a cold start, or what looks like a queue: others wait for the model too.
func (s scored) wake() []string {
	if *s.Concurrency > 1 {
		return []string{"queue", "cold_start"}
	}
	return []string{"cold_start"}
}

// reading is why a prompt was long to read.
func (s scored) reading() []string {
	otherwise := s.api == exchange.Completions && !s.how.Uncached // one text: with another beginning, another prompt
	switch {
	case s.missed() && s.counted() && s.how.Cached == "" && !otherwise && s.site.warm: // else no hit was ever reported
		return []string{"cache_miss"}
	case s.shared == 0 || s.hit():
		return []string{"long_input"}
	}
	return []string{"cache_miss", "long_input"}
}

// generating is what the decoding was for.
func (s scored) generating() []string {
	var causes []string
	concealed := share(s.parts().hidden, s.parts().decode)
	if concealed > 0.4 || s.ask.whole && s.truth.ReasoningTokens > 0 {
		causes = append(causes, "hidden_reasoning")
	}
	if concealed > 0.6 && !s.ask.whole {
		return causes
	}
	if s.comesWhole() {
		return append(causes, "whole_output")
	}
	slower := s.slower()
	if slower > 1.2 && !s.ask.whole {
		causes = append(causes, "slow_decode")
	}
	if slower < 1.75 || s.ask.whole {
		causes = append(causes, "long_output")
	}
	return causes
}

// slower is how much slower than usual the tokens came, 1 where nobody could
// know.
func (s scored) slower() float64 {
	uncounted := s.truth.ReasoningTokens > 0 && (s.api == exchange.Messages || s.how.Thoughts == simulator.Unreported)
	if !s.site.warm || !s.counted() || uncounted || s.seen() < 64 {
		return 1
	}
	return s.rate()
}

// rate is the time that a token took, 1 being what is usual.
func (s scored) rate() float64 {
	return float64(s.parts().decode) / float64(max(1, s.truth.OutputTokens-1)) / float64(s.site.how.TPOT)
}
