// Package exchange holds the record that ttftap keeps of one request and its
// answer, the words for how it ended, and the figures that follow from it by
// arithmetic alone. It knows neither HTTP nor SQL.
//
// Nil, or the empty string, is the only "unknown": a value that did not happen
// or was not reported is never 0, -1 or the end time.
package exchange

import "time"

// Exchange is one request and its answer. Every *time.Duration that is an
// instant counts from the start, on the monotonic clock.
type Exchange struct {
	ID        string    // sortable by time, unique
	StartedAt time.Time // wall clock, when the request head had been read

	// Where it came from and went to.
	Upstream    string // name of the upstream, "default" for the unnamed one
	KeyID       string // keyed hash of the credential; "" without one
	Client      string // product and version of the user agent
	SessionID   string
	TurnID      string
	RequestKind string // turn, compaction, prewarm, ... as the client says
	Experiment  string // id of the experiment that it is a request of
	Step        *int64 // its place in that; nil where it is part of none
	Method      string
	Path        string // the target as asked for, its query scrubbed
	Dialect     Dialect
	Transport   string // http, sse, ndjson, websocket; "" without an answer
	Streamed    *bool  // whether the answer was a stream; nil without an answer

	ModelRequested string
	ModelServed    string
	ServiceTier    string

	// How it ended.
	Status           *int64 // the upstream's; nil where it sent none
	Outcome          Outcome
	Error            string // in words: the step and the cause, never a quoted prompt
	FinishReason     string
	RequestID        string // the upstream's x-request-id or its kin
	ResponseID       string // the body's id
	GatewayRequestID string
	RetryGroup       string
	Attempt          *int64
	Note             string // what the observer could not read, in words
	UnreadEvents     *int64 // events that were no JSON of the expected shape; nil if none

	Tokens
	Instants
	Figures
	Seen
	Server
	Verdict

	Prompt []Boundary // the prompt's sections, hashed; nil where it was not read, or not asked for
}

// Tokens are the counts of one exchange, normalised: prompt tokens include the
// cached ones, output tokens include reasoning.
type Tokens struct {
	PromptTokens     *int64
	CachedTokens     *int64
	CacheWriteTokens *int64
	UncachedTokens   *int64 // prompt - cached; nil where either is unknown
	OutputTokens     *int64
	ReasoningTokens  *int64
	TotalTokens      *int64
	EstimatedOutput  *int64 // output tokens as counted here, where nobody told them: nothing is reckoned with it
	UsageSource      string // reported, estimated, absent; "" where no usage could be expected
	Reasoning        string // visible, summary, hidden, none; "" unreported
	UsageRaw         string // the usage object as sent
}

// Instants are offsets from the start. DNS, Connect and TLS are durations
// before GotConn, nil on a reused connection.
type Instants struct {
	ConnReused        *bool
	DNS               *time.Duration
	Connect           *time.Duration
	TLS               *time.Duration
	PoolWait          *time.Duration // for a connection that another exchange dialled or gave back; nil where none was waited for
	RTT               *time.Duration // one round trip to the upstream
	Received          *time.Duration // last byte of the client's request body read
	GotConn           *time.Duration // an upstream connection is ready
	Sent              *time.Duration // last byte of the request gone
	Headers           *time.Duration // head of the final response read
	FirstByte         *time.Duration // first byte of the body read
	FirstEvent        *time.Duration // first event that carries data
	GenerationStarted *time.Duration // first output item opened, in a later read than the headers
	FirstToken        *time.Duration // TTFT: first generated output of any kind
	FirstReasoning    *time.Duration
	FirstText         *time.Duration
	FirstTool         *time.Duration
	AnswerStart       *time.Duration // first generated output that is not reasoning
	LastToken         *time.Duration
	Terminal          *time.Duration
	End               *time.Duration // end of body, or the abort; nil while open
}

// Figures are derived from the instants, the tokens and the arrivals of output.
type Figures struct {
	Upload               *time.Duration // GotConn to Sent
	UploadLowerBound     *bool          // true where the kernel may still have held bytes at Sent
	Network              *time.Duration // DNS + connect + TLS + upload + one round trip
	Wait                 *time.Duration // FirstToken - network - hosted tools: queue + prefill
	Queue                *time.Duration // estimate or the server's own
	Prefill              *time.Duration // estimate or the server's own
	Decode               *time.Duration // LastToken - FirstToken - hosted tools
	HiddenDecode         *time.Duration // decode of reasoning that was never shown
	UnseenDecode         *time.Duration // decode of an output that came whole
	HostedTool           *time.Duration // time a hosted tool was running
	HostedBeforeFirst    *time.Duration // the part of it before FirstToken
	HostedBeforeAnswer   *time.Duration // the part of it before AnswerStart
	ClientWait           *time.Duration // blocked on writing to the client
	Proxy                *time.Duration // the proxy's own share
	Excess               *time.Duration // slower than usual for this much work
	TPOT                 *time.Duration // time per output token
	TokensPerSec         *float64       // decode rate
	RateQuality          string         // steady, fair, noisy; "" without a rate
	RateLastOverFirst    *float64       // rate of the last third over that of the first
	EndToEndTokensPerSec *float64
	PrefillTokensPerSec  *float64
	OutputEvents         *int64
	TokensPerEvent       *float64
	MaxGap               *time.Duration
	Stalls               *int64
	StallTime            *time.Duration
	Cadence              *Cadence // nil where the output was not streamed as it was made
	Delivery             Delivery
	DeliveryPeriod       *time.Duration // distance of bursts, where output comes in bursts
	DeliveryBytes        *int64         // output bytes a burst
	PrefixSharedTokens   *int64         // of the prompt, what an earlier one of the route began with; nil if unknown
	PrefixCounted        *bool          // true: the upstream's own count of that; false: shared out by bytes; nil with none shared
	PrefixIdle           *time.Duration // since an exchange ended that had it; nil with none shared
	ChangedSection       string         // part whose change broke the session's prefix, or "compaction"; "" if none did
	ChangedIndex         *int64         // the place of that section in the prompt, the model being 0
	CacheOutcome         string
	Concurrency          *int64
	IdleBefore           *time.Duration
	ModelIdle            *time.Duration // since the model's exchange before this one ended; nil where none is known
	RequestBytes         *int64
	ResponseBytes        *int64
	UpstreamClockOffset  *time.Duration
	Choices              *int64 // choices asked for or seen; nil for one
}

// Seen keeps what was seen of a stream whose Delivery is pseudo by nothing but
// what is usual for its model: the rate at which it came, which is none of the
// model's then. All of it is unknown otherwise.
type Seen struct {
	SeenDelivery          Delivery
	SeenTPOT              *time.Duration
	SeenTokensPerSec      *float64
	SeenRateQuality       string
	SeenRateLastOverFirst *float64
}

// Server is what the upstream reports of its own timing.
type Server struct {
	ServerQueue   *time.Duration
	ServerPrefill *time.Duration
	ServerDecode  *time.Duration
	ServerSource  string
}

// Verdict says what bound the exchange. It is a function of the facts and of
// the model's baseline at the time, so it can be judged again.
type Verdict struct {
	Floor        *time.Duration // the baseline's fixed start, as of the verdict
	Bound        Bound
	Cause        string
	Reason       string // in English, with its numbers
	RulesVersion *int64
	Usual
}

// Usual is what the model's baseline said of the exchange, as of the verdict;
// all nil without one.
type Usual struct {
	UsualRows     *int64         // exchanges that the baseline rests on
	UsualTokens   *int64         // the most uncached tokens among them: beyond, it is less sure
	UsualTPOT     *time.Duration // the model's median time per token
	UsualPrefill  *time.Duration // prefill of this prompt, however short the wait was
	CachedWait    *time.Duration // first token, had all of the prompt been cached
	EstimateError *time.Duration // either way, of a Queue or Prefill that the baseline gave
}

// Dialect names a wire format.
type Dialect string

// The wire formats that are read; every other path is Other.
const (
	Responses   Dialect = "responses"
	Chat        Dialect = "chat"
	Completions Dialect = "completions"
	Messages    Dialect = "messages"
	Embeddings  Dialect = "embeddings"
	Ollama      Dialect = "ollama"
	Other       Dialect = "other"
)

// EstimatedUsage is the UsageSource where EstimatedOutput is all that is known.
const EstimatedUsage = "estimated"

// FellBack is in the Note of an upgrade that the upstream refused in words upon
// which no client goes on over HTTP, so that it was told 426 instead.
const FellBack = "the client was answered 426"

// How reasoning came.
const (
	VisibleReasoning = "visible" // as text
	SummaryReasoning = "summary" // only summaries did
	HiddenReasoning  = "hidden"  // not at all, but there was some
	NoReasoning      = "none"    // there was none, as reported
)

// How far a rate is to be trusted.
const (
	SteadyRate = "steady"
	FairRate   = "fair"
	NoisyRate  = "noisy" // of too few tokens, or in too short a time, to reckon with
)

// Outcome says how an exchange ended.
type Outcome string

// The outcomes.
const (
	Open          Outcome = "open"           // under way
	OK            Outcome = "ok"             //
	Incomplete    Outcome = "incomplete"     // ended early by a limit
	ClientAbort   Outcome = "client_abort"   // the client left
	UpstreamCut   Outcome = "upstream_cut"   // ended without its terminal event
	UpstreamError Outcome = "upstream_error" // HTTP status >= 400
	ErrorEvent    Outcome = "error_event"    // an error inside a 200
	Unreachable   Outcome = "unreachable"    // no connection
	Interrupted   Outcome = "interrupted"    // the proxy itself was killed
	Refused       Outcome = "refused"        // answered by the proxy itself
)

// Outcomes lists every outcome, for filters and forms.
var Outcomes = []Outcome{OK, Incomplete, ClientAbort, UpstreamCut, UpstreamError, ErrorEvent, Unreachable, Interrupted, Refused, Open}

// Delivery says how the output arrived.
type Delivery string

// The ways of delivery.
const (
	Streamed    Delivery = "streamed"
	Bursty      Delivery = "bursty" // something buffers by size or by time
	Pseudo      Delivery = "pseudo" // generated first, sent afterwards
	Single      Delivery = "single" // all output in one event or read
	NotStreamed Delivery = "none"
)

// Bound names the phase that took most of the time.
type Bound string

// The bounds.
const (
	PrefillBound Bound = "prefill"
	DecodeBound  Bound = "decode"
	WaitBound    Bound = "wait"
	Mixed        Bound = "mixed"
	Stalled      Bound = "stalled"
	Unknown      Bound = "unknown"
)

// Bounds lists every bound in the order in which the page shows them.
var Bounds = []Bound{PrefillBound, DecodeBound, WaitBound, Mixed, Stalled, Unknown}

// EndedAt is the wall-clock time of the end, the zero time while open.
func (x *Exchange) EndedAt() time.Time {
	if x.End == nil {
		return time.Time{}
	}
	return x.StartedAt.Add(*x.End)
}

// prewarm is what Codex calls such a request.
const prewarm = "prewarm"

// MarkPrewarm notes that the client had its prompt prepared and wanted no output.
func (x *Exchange) MarkPrewarm() { x.RequestKind = prewarm }

// IsPrewarm says whether it is one of those that MarkPrewarm marks, or that its
// client calls so. Nobody waits for it, so it is part of no statistic.
func (x *Exchange) IsPrewarm() bool { return x.RequestKind == prewarm }

// Model is the model that served, else the one that was asked for.
func (x *Exchange) Model() string {
	if x.ModelServed != "" {
		return x.ModelServed
	}
	return x.ModelRequested
}
