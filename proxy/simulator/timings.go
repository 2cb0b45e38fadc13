package simulator

import (
	"net/http"
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Timings names the shape in which a server tells its own timing.
type Timings string

// The shapes; the zero value tells nothing.
const (
	LlamaTimings     Timings = "llama"
	VLLMTimings      Timings = "vllm" // told per request, where it is asked to
	GroqTimings      Timings = "groq"
	CerebrasTimings  Timings = "cerebras"
	FireworksTimings Timings = "fireworks"
	FireworksHeaders Timings = "fireworks-headers"
	LocalAITimings   Timings = "localai"
	NIMTimings       Timings = "nim"
	TGIHeaders       Timings = "tgi-headers"
)

// place is where in an answer its timing is told.
type place int

const (
	inLast      place = iota // in the last message, or the body
	inFinish                 // in the message that says why the answer ends
	besideUsage              // in the message that holds the counts
	inUsage                  // among the counts
)

// shape is how one kind of server tells its own timing.
type shape struct {
	place place
	key   string // of an object of its own; "" where there is none
	chat  bool   // only Chat and Completions have it
	tell  func(*Truth) object
	head  []headField
}

// headField is a header that is sent with the head of an answer if the phase that
// it tells of is over by then.
type headField struct {
	name  string
	known Stage
	phase func(*Truth) float64
}

// atEnd is the stage of an answer that comes whole.
const atEnd Stage = "end"

var shapes = map[Timings]shape{
	LlamaTimings:     {place: inLast, key: "timings", tell: llamaTimings},
	VLLMTimings:      {place: besideUsage, key: "metrics", tell: vllmMetrics},
	GroqTimings:      {place: inUsage, chat: true, tell: groqTimes},
	CerebrasTimings:  {place: inLast, key: "time_info", chat: true, tell: cerebrasTimes},
	FireworksTimings: {place: inFinish, key: "perf_metrics", chat: true, tell: fireworksMetrics},
	LocalAITimings:   {place: inUsage, chat: true, tell: localAITimes},
	NIMTimings:       {place: inLast, key: "stats", chat: true, tell: nimStats},
	FireworksHeaders: {head: []headField{
		{"Fireworks-Prefill-Queue-Duration", AtSlot, func(t *Truth) float64 { return t.line().Seconds() }},
		{"Fireworks-Prefill-Duration", AtToken, func(t *Truth) float64 { return t.Prefill.Seconds() }},
		{"Fireworks-Server-Time-To-First-Token", AtToken, func(t *Truth) float64 { return (t.line() + t.Prefill).Seconds() }},
		{"Fireworks-Generation-Duration", atEnd, func(t *Truth) float64 { return t.Span.Seconds() }},
	}},
	TGIHeaders: {head: []headField{
		{"X-Queue-Time", AtSlot, func(t *Truth) float64 { return millis(t.line()) }},
		{"X-Inference-Time", atEnd, func(t *Truth) float64 { return millis(t.Prefill + t.Span) }},
	}},
}

// line is the time until the model took the request: a server counts the load of
// its model among the queue.
func (t *Truth) line() time.Duration { return t.Queue + t.Load }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// time puts the timing into an object of the answer, if its place is one of these.
func (r *reply) time(into object, places ...place) {
	s := shapes[r.how.Timings]
	if s.tell == nil || !s.spoken(r.truth.Dialect) {
		return
	}
	for _, p := range places {
		switch told := s.tell(r.truth); {
		case p != s.place:
		case s.key != "":
			into[s.key] = told
		default:
			for key, value := range told {
				into[key] = value
			}
		}
	}
}

// spoken says whether the shape has a place in an API; Messages has one for none.
func (s shape) spoken(in exchange.Dialect) bool {
	return in == exchange.Chat || in == exchange.Completions || in == exchange.Responses && !s.chat
}

// timeHead puts into the head of an answer what is known of its timing by then.
func (r *reply) timeHead(head http.Header, by Stage) {
	for _, field := range shapes[r.how.Timings].head {
		if by == field.known || by == atEnd || by == AtToken && field.known == AtSlot {
			head.Set(field.name, strconv.FormatFloat(field.phase(r.truth), 'f', -1, 64))
		}
	}
}

// llamaTimings has no place for the queue.
func llamaTimings(t *Truth) object {
	read := t.PromptTokens - t.CachedTokens
	told := object{"cache_n": t.CachedTokens, "prompt_n": read, "predicted_n": t.OutputTokens}
	rate(told, "prompt", read, t.Prefill)
	rate(told, "predicted", t.OutputTokens-1, t.Span) // the first token is not within the span
	return told
}

// rate adds the time of n tokens in three wordings, a quotient by zero left out.
func rate(told object, name string, n int, d time.Duration) {
	told[name+"_ms"] = millis(d)
	if n > 0 {
		told[name+"_per_token_ms"] = millis(d) / float64(n)
	}
	if d > 0 {
		told[name+"_per_second"] = float64(n) / d.Seconds()
	}
}

// vllmMetrics calls time to first token what begins when the request is scheduled.
func vllmMetrics(t *Truth) object {
	return object{
		"queue_time_ms": millis(t.line()), "time_to_first_token_ms": millis(t.Prefill), "generation_time_ms": millis(t.Span),
	}
}

// groqTimes leave the queue out of the total.
func groqTimes(t *Truth) object {
	return object{
		"queue_time": t.line().Seconds(), "prompt_time": t.Prefill.Seconds(), "completion_time": t.Span.Seconds(),
		"total_time": (t.Prefill + t.Span).Seconds(),
	}
}

// cerebrasTimes have the gateway in the total too.
func cerebrasTimes(t *Truth) object {
	return object{
		"queue_time": t.line().Seconds(), "prompt_time": t.Prefill.Seconds(), "completion_time": t.Span.Seconds(),
		"total_time": (t.Floor + t.line() + t.Prefill + t.Span).Seconds(), "created": t.Started.Unix(),
	}
}

func fireworksMetrics(t *Truth) object {
	return object{
		"prompt-tokens": t.PromptTokens, "cached-prompt-tokens": t.CachedTokens,
		"server-time-to-first-token": (t.line() + t.Prefill).Seconds(),
		"prefill-queue-duration":     t.line().Seconds(), "prefill-duration": t.Prefill.Seconds(),
		"generation-queue-duration": 0, "generation-duration": t.Span.Seconds(),
	}
}

func localAITimes(t *Truth) object {
	return object{"timing_prompt_processing": millis(t.Prefill), "timing_token_generation": millis(t.Span)}
}

// nimStats do not say whether the queue is in the time to the first token.
func nimStats(t *Truth) object {
	return object{
		"llm_input_token_length": t.PromptTokens, "llm_output_token_length": t.OutputTokens,
		"time_in_queue_in_ms": millis(t.line()),
		"response_tokens":     object{"response_token_length": t.OutputTokens, "time_to_first_token_in_ms": millis(t.line() + t.Prefill)},
	}
}
