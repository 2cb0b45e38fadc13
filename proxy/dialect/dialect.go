// Package dialect reads the wire formats of model servers: it turns one
// message of a stream, or one whole body, into its meaning. It knows nothing of
// time, HTTP or storage, and keeps no text.
//
// A dialect is a wire format, not a vendor: a vendor's own usage or timing
// field is one row in a table of paths.
package dialect

import (
	"strings"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Kind is a set of kinds of generated output.
type Kind uint8

// The kinds of generated output.
const (
	Reasoning Kind = 1 << iota // reasoning as such
	Summary                    // a summary of reasoning
	Text
	Refusal
	Tool // a call of a tool: its name, its arguments or its input
	Audio
	Image
)

// Thought is the kinds that are not part of the answer.
const Thought = Reasoning | Summary

// Item is what an output item is, as far as the clock cares.
type Item uint8

// The output items.
const (
	NoItem        Item = iota
	OutputItem         // a message or a call that the client runs
	ReasoningItem      // reasoning, whether its text is shown or not
	HostedTool         // a tool that the upstream runs: web search, code interpreter, MCP
)

// Event is what one message of a stream means for the clock.
type Event struct {
	Kind         Kind // generated output in it; 0 for none
	ThoughtBytes int  // bytes of reasoning and summaries in it
	AnswerBytes  int  // bytes of any other generated output in it
	Index        int  // the output item that it belongs to, 0 where there is but one
	Opens        Item // an item that begins with it
	Closes       Item // an item that ends with it
	Terminal     bool // the answer is complete with it
	Unread       bool // no JSON of the expected shape
}

// End is how an answer says that it is over.
type End uint8

// The ends.
const (
	NoEnd        End = iota // no terminal event was seen
	Completed               //
	CutShort                // ended early by a limit
	EndedInError            // an error, in an event or a body
)

// Answer is what has been read of an answer so far.
type Answer struct {
	Model        string
	ResponseID   string
	ServiceTier  string
	FinishReason string // as sent; of the choice with index 0
	FinishDetail string // reason of an incomplete or failed response
	End          End
	DoneMarker   bool // [DONE] came
	Choices      int  // number of choices seen; 0 unknown
	Usage        Usage
	Timings      exchange.Server
	Engine       *Engine // of the turn so far, nil where it was not reported
	Error        *Error
	Whole        Event // the generated output of an answer that was no stream, as one event
	Unread       bool  // a whole answer that is no JSON
}

// Usage is the token counts as sent, before normalising, and the object that
// held them. The counts follow the OpenAI convention: Prompt includes Cached.
type Usage struct {
	Prompt, Cached, CacheWrite, Output, Reasoning, Total *int64
	Raw                                                  string // "" where none came
}

// Error is an error as the upstream worded it.
type Error struct {
	Status                     int64 // inside the body; 0 for none
	Type, Code, Param, Message string
}

// Reader reads the answer of one exchange: either message by message or whole.
type Reader interface {
	// Message reads one message of a stream. Name is the SSE event name, ""
	// where there was none. The data is not kept.
	Message(name string, data []byte) Event
	// Body reads a whole answer that is no stream.
	Body(data []byte)
	// Answer is what has been read so far.
	Answer() *Answer
}

// Detect names the wire format that the last segments of a request path stand
// for, exchange.Other for a path that is not read.
func Detect(path string) exchange.Dialect {
	path = strings.TrimRight(path, "/")
	for _, d := range byPath {
		if strings.HasSuffix(path, d.suffix) {
			return d.dialect
		}
	}
	return exchange.Other
}

// byPath is in order: the first suffix that fits names the format.
var byPath = []struct {
	suffix  string
	dialect exchange.Dialect
}{
	{"/responses", exchange.Responses},
	{"/chat/completions", exchange.Chat},
	{"/completions", exchange.Completions},
	{"/messages", exchange.Messages},
	{"/embeddings", exchange.Embeddings},
	{"/api/chat", exchange.Ollama},
	{"/api/generate", exchange.Ollama},
}
