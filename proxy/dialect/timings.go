package dialect

import (
	"math"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// timing says where a server reports one of its phases: in which object of its
// answer, under which key and in which unit.
type timing struct {
	source string
	object string // "" is the message itself
	key    string
	unit   time.Duration
	into   func(*exchange.Server) **time.Duration
}

func queue(s *exchange.Server) **time.Duration   { return &s.ServerQueue }
func prefill(s *exchange.Server) **time.Duration { return &s.ServerPrefill }
func decode(s *exchange.Server) **time.Duration  { return &s.ServerDecode }

// timings is one row a field. Only fields whose unit and origin are documented
// or measured are here; a total is none, since each vendor leaves out another
// part of it.
var timings = []timing{
	// Wall time from taking the slot to the first token, and from there to the last.
	{"llama.cpp", "timings", "prompt_ms", time.Millisecond, prefill},
	{"llama.cpp", "timings", "predicted_ms", time.Millisecond, decode},

	// Its time to first token starts at scheduling, so it is the prefill.
	{"vllm", "metrics", "queue_time_ms", time.Millisecond, queue},
	{"vllm", "metrics", "time_to_first_token_ms", time.Millisecond, prefill},
	{"vllm", "metrics", "generation_time_ms", time.Millisecond, decode},

	{"groq", "usage", "queue_time", time.Second, queue},
	{"groq", "usage", "prompt_time", time.Second, prefill},
	{"groq", "usage", "completion_time", time.Second, decode},

	{"cerebras", "time_info", "queue_time", time.Second, queue},
	{"cerebras", "time_info", "prompt_time", time.Second, prefill},
	{"cerebras", "time_info", "completion_time", time.Second, decode},

	// Sent when asked for by the request header Extra-Usage.
	{"localai", "usage", "timing_prompt_processing", time.Millisecond, prefill},
	{"localai", "usage", "timing_token_generation", time.Millisecond, decode},

	// Sent when the request sets perf_metrics_in_response; its heads say the same.
	{"fireworks", "perf_metrics", "prefill-queue-duration", time.Second, queue},
	{"fireworks", "perf_metrics", "prefill-duration", time.Second, prefill},
	{"fireworks", "perf_metrics", "generation-duration", time.Second, decode},

	// Of its time to first token, as of LM Studio's and SambaNova's, it is not
	// said whether a queue is in it, so those are no rows.
	{"nim", "stats", "time_in_queue_in_ms", time.Millisecond, queue},

	// Its load ends when a runner is there: waiting for one is in it.
	{"ollama", "", "load_duration", time.Nanosecond, queue},
	{"ollama", "", "prompt_eval_duration", time.Nanosecond, prefill},
	{"ollama", "", "eval_duration", time.Nanosecond, decode},
}

// headTimings is for servers that report in the head of an answer: the object is
// unused, the key is the header's name.
var headTimings = []timing{
	{"fireworks", "", "Fireworks-Prefill-Queue-Duration", time.Second, queue},
	{"fireworks", "", "Fireworks-Prefill-Duration", time.Second, prefill},
	{"fireworks", "", "Fireworks-Generation-Duration", time.Second, decode},
	{"tgi", "", "X-Queue-Time", time.Millisecond, queue},
}

// HeadTimings reads what the head of an answer reports of the server's timing.
// Get gives the value of a header, "" where it is missing.
func HeadTimings(get func(name string) string) (s exchange.Server) {
	for _, row := range headTimings {
		text := get(row.key)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		if d := span(gjson.Result{Type: gjson.Number, Num: v}, row.unit); d != nil {
			*row.into(&s), s.ServerSource = d, row.source
		}
	}
	return s
}

// time reads the timings in an object of the answer; later ones replace earlier.
func (r *reading) time(object string, v gjson.Result) {
	for _, row := range timings {
		if row.object != object {
			continue
		}
		if d := span(find(v, row.key), row.unit); d != nil {
			*row.into(&r.answer.Timings) = d
			r.answer.Timings.ServerSource = row.source
		}
	}
}

// span is a number of units, nil for what is no time.
func span(v gjson.Result, unit time.Duration) *time.Duration {
	n := math.Round(v.Num * float64(unit))
	if v.Type != gjson.Number || !(n >= 0 && n < math.MaxInt64) {
		return nil
	}
	d := time.Duration(n)
	return &d
}
