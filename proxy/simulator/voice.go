package simulator

import (
	"fmt"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// voice words a stream in one wire format. Each method returns the messages to
// send, nil for none.
type voice interface {
	begin() []byte                      // opens the answer, says nothing of it yet
	ping() []byte                       // says that the stream lives
	progress(done int) []byte           // that many prompt tokens are read
	open(it *item) []byte               // an item begins
	piece(it *item, text string) []byte // some of it
	close(it *item) []byte              // an item is complete
	end() []byte                        // the answer is complete
	fail(f *fault) []byte               // the answer breaks off
}

// reply is what an answer consists of, however it is worded.
type reply struct {
	id      string // without what the wire format puts before it
	created int64  // Unix time
	plan    plan
	inputs  int  // texts to embed
	usage   bool // asked for in a Chat stream
	how     *Behaviour
	truth   *Truth
}

// format is one wire format.
type format struct {
	id    string              // what response ids begin with
	parts []string            // of the prompt, in the order in which a model reads them; the last is required
	voice func(*reply) voice  // nil: never a stream
	body  func(*reply) object // the whole answer, where no stream is asked for
}

var formats = map[exchange.Dialect]format{
	exchange.Responses:   {"resp_", []string{"tools", "instructions", "input"}, newResponsesVoice, responsesBody},
	exchange.Chat:        {"chatcmpl-", []string{"tools", "messages"}, newChatVoice, chatBody},
	exchange.Completions: {"cmpl-", []string{"prompt"}, newCompletionsVoice, completionsBody},
	exchange.Messages:    {"msg_", []string{"tools", "system", "messages"}, newMessagesVoice, messagesBody},
	exchange.Embeddings:  {"", []string{"input"}, nil, embeddingsBody},
}

// event is a message of a stream with its name.
func event(name string, v object) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, encode(v))
}

// chunk is a message of a stream without a name.
func chunk(v object) []byte {
	return fmt.Appendf(nil, "data: %s\n\n", encode(v))
}
