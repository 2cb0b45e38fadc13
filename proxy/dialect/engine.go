package dialect

import (
	"time"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Engine is what OpenAI reports, over a socket and where it is asked to, of what
// its engine did for a turn: sums that grow with each response of the turn. A
// field is nil where it was not reported.
type Engine struct {
	FirstToken *time.Duration // until first tokens; what it waited in a queue of its own is in it
	Total      *time.Duration // until last tokens
	Queue      *time.Duration // the longest wait of all calls; told apart only of one
	Calls      *int64
}

// engineIn reads the object of a responsesapi.websocket_timing event.
func engineIn(v gjson.Result) *Engine {
	e := Engine{
		FirstToken: span(find(v, "engine_service_ttft_total_ms"), time.Millisecond),
		Total:      span(find(v, "engine_service_total_ms"), time.Millisecond),
		Queue:      span(find(v, "engine_queue_max_ms"), time.Millisecond),
		Calls:      count(find(v, "num_engine_calls")),
	}
	if e.FirstToken == nil && e.Total == nil {
		return nil
	}
	return &e
}

// Since is what was added to an earlier state of the same turn. Nil stands for
// none, and sums that have not grown are those of another turn.
func (e *Engine) Since(before *Engine) *Engine {
	if before == nil {
		return e
	}
	first, total := grown(before.FirstToken, e.FirstToken), grown(before.Total, e.Total)
	if first == nil && total == nil {
		return e
	}
	return &Engine{FirstToken: first, Total: total}
}

// grown is how much a sum has grown, nil where it has not.
func grown(from, to *time.Duration) *time.Duration {
	if from == nil || to == nil || *to < *from {
		return nil
	}
	return new(*to - *from)
}

// Timings is the engine's work in phases.
func (e *Engine) Timings() (s exchange.Server) {
	s.ServerPrefill, s.ServerDecode = e.FirstToken, grown(e.FirstToken, e.Total)
	if s.ServerPrefill == nil && s.ServerDecode == nil {
		return s
	}
	s.ServerSource = "openai"
	if one := e.Calls != nil && *e.Calls == 1; one && e.Queue != nil && e.FirstToken != nil && *e.Queue <= *e.FirstToken {
		s.ServerQueue, s.ServerPrefill = e.Queue, new(*e.FirstToken-*e.Queue)
	}
	return s
}
