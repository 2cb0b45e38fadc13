package experiment

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Run is what is known of an experiment besides its exchanges.
type Run struct {
	ID        string
	StartedAt time.Time
	EndedAt   *time.Time // nil while it runs
	Stopped   bool       // ended before its last request
	Plan      Plan
}

// Report is what an experiment found, as plain data: for the API, the page, the
// terminal and Markdown alike. Durations are in milliseconds, rates in tokens a
// second. Nil is unknown.
type Report struct {
	ID        string     `json:"id"`
	Kind      Kind       `json:"kind"`
	Wire      string     `json:"wire"`
	Command   string     `json:"command"` // that runs it again
	Models    []string   `json:"models"`
	Upstreams []string   `json:"upstreams"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at"`
	State     State      `json:"state"`
	Rounds    int        `json:"rounds"`  // as planned
	Planned   int        `json:"planned"` // requests
	Sent      int        `json:"sent"`    // requests that are in the log

	Verdict Sentence    `json:"verdict"` // in one sentence, or two
	Found   []Finding   `json:"found"`   // the same for programs, the first of them the verdict's
	Says    []Sentence  `json:"says"`    // what else it tells, and what would settle what is open
	Arms    []ArmReport `json:"arms"`    // in the order of the plan
	Changes []Change    `json:"changes"` // between arms
	Lines   []Line      `json:"lines"`   // wait over uncached tokens, one a model; empty where the kind has none
	Spikes  *Spikes     `json:"spikes"`  // nil with too few requests to tell
	Parts   []Part      `json:"parts"`   // of a first token, and of decode; empty where the kind does not tell
	Checks  []Check     `json:"checks"`  // how far all that is to be trusted
	Samples []Sample    `json:"samples"` // a request each, in the order of sending
}

// State says how far an experiment has come.
type State string

// The states.
const (
	Running State = "running"
	Stopped State = "stopped" // ended before its last request
	Done    State = "done"
)

// Finding is a conclusion for programs.
type Finding string

// The findings. What they say of times holds by intervals that exclude the
// contrary; a queue that comes and goes, a cold start and what a cache holds are
// found by counting.
const (
	Unresolved      Finding = "unresolved"       // the requests do not tell
	FoundPrefill    Finding = "prefill"          // most of the first token's time grows with the prompt
	FoundFloor      Finding = "floor"            // most of it is there whatever the prompt
	FoundNetwork    Finding = "network"          // most of it is the way there and back
	FoundQueue      Finding = "queue"            // most of it is queue, by the server's timing or since like requests differ so
	FoundDecode     Finding = "decode"           // a part of the time, no verdict
	FoundKnee       Finding = "knee"             // from some length on a token costs more
	FoundColdStart  Finding = "cold_start"       // the first request alone was slow
	CacheWorks      Finding = "cache_works"      // a prompt sent again is cached
	CacheIdle       Finding = "cache_idle"       // counted, and nothing is cached
	CacheUnreported Finding = "cache_unreported" // nobody counts it
	CacheBroken     Finding = "cache_broken"     // a change early in the prompt costs the cache
	Faster          Finding = "faster"           // the second is faster than the first
	Slower          Finding = "slower"           // the second is slower than the first
	Same            Finding = "same"             // no more than 5 % apart
	HiddenReasoning Finding = "hidden_reasoning" // the first token comes after reasoning that is not shown
	Buffered        Finding = "buffered"         // something holds the first token back
	Failing         Finding = "failing"          // too many requests failed
)

// ArmReport is what the requests of an arm tell. Every figure is a median over
// the requests that were answered, nil where none has it.
type ArmReport struct {
	Arm
	Planned     int       `json:"planned"`
	Sent        int       `json:"sent"`
	Answered    int       `json:"answered"`
	RateLimited int       `json:"rate_limited"` // answered by 429; no failure
	Failures    []Failure `json:"failures"`     // the most frequent first

	TTFT     *Estimate `json:"ttft_ms"`    // first token
	Wait     *Estimate `json:"wait_ms"`    // first token without network and hosted tools
	Network  *Estimate `json:"network_ms"` // connecting, upload and a round trip
	Queue    *Estimate `json:"queue_ms"`   // by the server's own timing
	Prefill  *Estimate `json:"prefill_ms"` // by the server's own timing
	Total    *Estimate `json:"total_ms"`
	Rate     *Estimate `json:"tokens_per_sec"` // of decode
	Prompt   *Estimate `json:"prompt_tokens_came"`
	Cached   *Estimate `json:"cached_tokens"`
	Uncached *Estimate `json:"uncached_tokens"`
	Output   *Estimate `json:"output_tokens_came"`
}

// Failure counts the requests that failed in one way.
type Failure struct {
	Outcome exchange.Outcome `json:"outcome"`
	Status  *int64           `json:"status"` // nil where there was none
	Count   int              `json:"count"`
}

// Figure names what is compared.
type Figure string

// The figures that are compared.
const (
	TTFT    Figure = "ttft_ms"
	Wait    Figure = "wait_ms"
	Network Figure = "network_ms"
	Total   Figure = "total_ms"
	Rate    Figure = "tokens_per_sec"
)

// Check is one reason to trust the report, or not to.
type Check struct {
	Fine     bool     `json:"fine"`
	Sentence Sentence `json:"sentence"`
}

// Sample is one request as it is drawn, with the ids by which the provider's
// console knows it.
type Sample struct {
	Step             int              `json:"step"`
	Arm              int              `json:"arm"` // its place in Arms
	Round            int              `json:"round"`
	Exchange         string           `json:"exchange"` // id in the log
	StartedAt        time.Time        `json:"started_at"`
	Outcome          exchange.Outcome `json:"outcome"`
	Status           *int64           `json:"status"`
	Over             *float64         `json:"over_ms"`    // what a spike took beyond the slowest other of its arm; nil for no spike
	Connect          *float64         `json:"connect_ms"` // of the first token's time, on a new connection; nil on a kept one
	TTFT             *float64         `json:"ttft_ms"`
	Wait             *float64         `json:"wait_ms"` // first token less network, hosted tools and decode that nobody saw; nil also where that leaves too little to go by
	Network          *float64         `json:"network_ms"`
	Total            *float64         `json:"total_ms"`
	Rate             *float64         `json:"tokens_per_sec"`
	Prompt           *int64           `json:"prompt_tokens"`
	Cached           *int64           `json:"cached_tokens"`
	Uncached         *int64           `json:"uncached_tokens"`
	Output           *int64           `json:"output_tokens"`
	RequestID        string           `json:"request_id"`
	ResponseID       string           `json:"response_id"`
	GatewayRequestID string           `json:"gateway_request_id"`
}
