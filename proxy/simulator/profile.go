package simulator

import "time"

// Profile is one simulated model: what its requests share, and how each is
// answered unless it says otherwise in OverrideHeader.
type Profile struct {
	Name  string
	Slots int // requests worked on at once, the rest wait in line; 0: no limit
	Cache Cache

	Load   time.Duration // of the model into memory; requests wait for it
	Asleep time.Duration // without a request for longer, it is unloaded; 0: never

	Behaviour
}

// Cache is how a model keeps the prompts that it has read. A later prompt is
// spared the blocks that it shares from its beginning.
type Cache struct {
	Block   int           // tokens a block; 0: 128
	Tokens  int           // room, the least recently used blocks go first; 0: no limit
	Idle    time.Duration // a block unused for longer is gone; 0: never
	Min     int           // shorter prompts are not kept, in tokens
	PerSlot bool          // each slot has its own, instead of all sharing one
}

// Behaviour is how one request is answered. The zero value answers at once and
// says nothing.
type Behaviour struct {
	Network time.Duration // behind the gateway, where no client can tell it from the floor
	Floor   time.Duration // fixed start of the gateway, before the queue

	Prefill       time.Duration // for each prompt token that is not cached
	PrefillGrowth float64       // by how much a token is dearer per 1,000 tokens before it: 0.01 is 1 %
	Uncached      bool          // nothing is taken from the cache

	TPOT     time.Duration // for each generated token
	Jitter   float64       // spread of TPOT around its mean, 0 to 1
	Crowding float64       // by how much a token is slower for each other request in a slot: 0.1 is 10 %
	Chunk    int           // up to so many tokens come at once, by speculation; 0: one

	Output          int       // tokens of the answer
	Reasoning       Reasoning // how the reasoning before it is shown
	ReasoningTokens int
	ToolRounds      int  // until so many tool results are in the conversation, the answer is a call
	ToolTokens      int  // tokens of a call; no fewer than four
	Whole           bool // a call comes in one piece, when all of it is generated

	Stall  time.Duration // silence within the answer
	Mishap Mishap        // how the answer breaks off
	At     *int          // tokens of the answer before the stall or the mishap, never where it has fewer; nil: half of them

	Headers  Stage         // when the head of a stream is sent
	Ping     time.Duration // silence after which a stream says that it lives; 0: never
	Progress bool          // tells of prefill's progress, every 2,048 tokens
	HopBytes int           // a hop in between passes bytes on in blocks of this size; 0: none does
	HopTime  time.Duration // a hop in between holds bytes for this long; 0: none does
	Pseudo   bool          // a stream in form alone: all is sent at the end
	Timings  Timings       // how the server tells its own timing
	Usage    Report        // Unreported: no counts at all
	Cached   Report        // Unreported, or Zero whatever the cache held
	Thoughts Report        // the count of reasoning: Unreported, or Apart

	Status     int           // refuses with this HTTP status; 0: does not
	RetryAfter time.Duration // said with the refusal, in whole seconds; 0: not said
}

// Reasoning says what of a model's reasoning is sent.
type Reasoning string

// The ways to show reasoning; the zero value is none at all.
const (
	Hidden  Reasoning = "hidden"  // only counted
	Summary Reasoning = "summary" // a sentence for every 160 tokens
	Visible Reasoning = "visible" // each token
)

// Mishap says how an answer breaks off.
type Mishap string

// The mishaps; the zero value is none.
const (
	Cut        Mishap = "cut"   // the connection is closed
	ErrorEvent Mishap = "error" // an error event ends the stream
)

// Stage is a point in a request's way through the server.
type Stage string

// The stages; the zero value stands for AtSlot.
const (
	AtAccept Stage = "accept" // read and accepted
	AtSlot   Stage = "slot"   // out of the queue, the model loaded
	AtToken  Stage = "token"  // at the first token
)

// Report says how a count is told; the zero value is as it is.
type Report string

// The ways in which servers tell a count otherwise.
const (
	Unreported Report = "unreported"
	Zero       Report = "zero"  // 0, whatever it is
	Apart      Report = "apart" // not in the output tokens, but in the total
)

// DefaultProfiles are a large and a light model of a provider, one that
// reasons, one that asks for two tool calls as an agent's model does, and one
// of a local server with a single slot.
func DefaultProfiles() []Profile {
	kept := Cache{Min: 1024, Idle: 5 * time.Minute, Tokens: 4 << 20}
	large := Behaviour{
		Floor: 50 * time.Millisecond, Prefill: 45 * time.Microsecond, PrefillGrowth: 0.004,
		TPOT: 18 * time.Millisecond, Jitter: 0.2, Output: 120, Headers: AtAccept,
	}
	light := Behaviour{
		Floor: 40 * time.Millisecond, Prefill: 12 * time.Microsecond, PrefillGrowth: 0.004,
		TPOT: 7 * time.Millisecond, Jitter: 0.2, Output: 80, Headers: AtAccept,
	}
	reasoning := large
	reasoning.TPOT, reasoning.Reasoning, reasoning.ReasoningTokens = 10*time.Millisecond, Hidden, 240
	codex := light
	codex.ToolRounds, codex.Reasoning, codex.ReasoningTokens, codex.Output = 2, Hidden, 48, 96
	local := Behaviour{
		Floor: 4 * time.Millisecond, Prefill: 400 * time.Microsecond, PrefillGrowth: 0.12,
		TPOT: 14 * time.Millisecond, Jitter: 0.1, Output: 100, Headers: AtSlot, Timings: LlamaTimings,
	}
	return []Profile{
		{Name: "sim-large", Slots: 6, Cache: kept, Behaviour: large},
		{Name: "sim-light", Slots: 6, Cache: kept, Behaviour: light},
		{Name: "sim-reasoning", Slots: 6, Cache: kept, Behaviour: reasoning},
		{Name: "sim-codex", Slots: 6, Cache: kept, Behaviour: codex},
		{Name: "sim-local", Slots: 1, Cache: Cache{Block: 1, Tokens: 32768, PerSlot: true}, Behaviour: local},
	}
}
