// Package experiment says what an experiment finds: whether a slow first token is
// network, queue or prefill, by requests that differ in one thing. A plan is what
// is to be sent, a report what its exchanges tell. It sends nothing and keeps
// nothing.
package experiment

// Kind is what an experiment varies.
type Kind string

// The kinds.
const (
	Ladder  Kind = "ladder"  // the length of the prompt
	Burst   Kind = "burst"   // nothing: short prompts alike, one after the other
	Cache   Kind = "cache"   // what of a long prompt was sent before
	History Kind = "history" // how much of a conversation is sent along
	Models  Kind = "models"  // the model, over a ladder
	Shapes  Kind = "shapes"  // long prompt and short answer against the reverse
	Load    Kind = "load"    // requests at a time
	Direct  Kind = "direct"  // the way: through a relay and straight to its upstream
)

// Kinds lists every kind in the order in which they are run together.
var Kinds = []Kind{Ladder, Burst, Cache, History, Shapes, Models, Load, Direct}

// Plan is an experiment as it was meant before its first request.
type Plan struct {
	Kind    Kind   `json:"kind"`
	Wire    string `json:"wire"`    // responses or chat
	Command string `json:"command"` // that runs it again
	Seed    uint64 `json:"seed"`    // of the order and of the prompts
	Arms    []Arm  `json:"arms"`    // what is compared, in the order of the tables
	Steps   []Step `json:"steps"`   // the requests in the order of sending
}

// Arm is a group of requests that are alike.
type Arm struct {
	Name         string `json:"name"` // "3000", "repeated", "4 at once": unique within its plan
	Model        string `json:"model"`
	Upstream     string `json:"upstream"`      // "default" for the unnamed one
	PromptTokens int64  `json:"prompt_tokens"` // as meant; what came is in the exchanges
	OutputTokens int64  `json:"output_tokens"` // at most
	AtOnce       int    `json:"at_once"`       // requests at a time, 1 but for load
}

// Step is one request.
type Step struct {
	Arm   int `json:"arm"`   // its place in Plan.Arms
	Round int `json:"round"` // from 0; steps of a round are compared as a pair
}
