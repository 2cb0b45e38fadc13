package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/gjson"
	"github.com/tiktoken-go/tokenizer/codec"
)

// Body is the body of a request that the user has: a conversation of several turns.
// It is held in memory alone.
type Body struct {
	Wire  string // Responses or Chat, told by its form
	Model string // "" where it names none

	fields map[string]json.RawMessage // those that are kept, but for the conversation
	items  []json.RawMessage          // of the conversation
	tokens int                        // of all that, as a tokenizer counts them
	count  func(string) (int, error)
}

// BodyMost is how many bytes a body has at most: two million tokens or so, beyond
// what models take, and beyond what is counted in a moment.
const BodyMost = 8 << 20

// ReadBody reads a conversation of three turns at least.
func ReadBody(raw []byte) (*Body, error) {
	if len(raw) > BodyMost {
		return nil, fmt.Errorf("it has more than %d MiB: give a conversation that a model takes", BodyMost>>20)
	}
	b := &Body{Wire: Chat, count: codec.NewO200kBase().Count}
	if err := json.Unmarshal(raw, &b.fields); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	if b.fields[b.name()] == nil {
		b.Wire = Responses
	}
	if b.fields[b.name()] == nil {
		return nil, errors.New("it has neither messages nor input: give the body of a Chat or Responses request")
	}
	if err := json.Unmarshal(b.fields[b.name()], &b.items); err != nil {
		return nil, fmt.Errorf("its %s is no list: there is nothing to summarise", b.name())
	}
	if n := len(b.asked()); n <= keptTurns {
		return nil, fmt.Errorf("it has %d of the user's turns: with no more than %d there is nothing to summarise", n, keptTurns)
	}
	b.Model = gjson.ParseBytes(b.fields["model"]).String()
	for _, name := range slices.Concat(unkept, []string{b.name()}) {
		delete(b.fields, name)
	}
	return b, b.measure()
}

// unkept are the fields that a step has its own of, or that keep an answer.
var unkept = []string{
	"model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "max_output_tokens", "reasoning_effort", "reasoning",
	"store", "n", "previous_response_id", "conversation", "background", "prompt_cache_key", "metadata", "user", "safety_identifier",
}

// name is the field of the conversation.
func (b *Body) name() string {
	if b.Wire == Chat {
		return "messages"
	}
	return "input"
}

// asked are the places in which the user speaks.
func (b *Body) asked() (places []int) {
	for i, item := range b.items {
		if gjson.GetBytes(item, "role").String() == user {
			places = append(places, i)
		}
	}
	return places
}

// leading is how many items are the system's, before anybody speaks.
func (b *Body) leading() int {
	n := slices.IndexFunc(b.items, func(item json.RawMessage) bool {
		return !slices.Contains([]string{"system", "developer"}, gjson.GetBytes(item, "role").String())
	})
	return max(n, 0)
}

func (b *Body) summaryWords() int { return max(b.tokens/20, shortPrompt) }

// abridged is the conversation with its older turns summed up, and with a short
// system prompt, as far as a says so. What tools have answered stays with the turn
// that asked them.
func (b *Body) abridged(a abridgement, summary string) *Body {
	c := *b
	c.fields, c.items = maps.Clone(b.fields), slices.Clone(b.items)
	if a.summarised {
		asked := b.asked()
		kept := b.items[asked[len(asked)-keptTurns]:]
		c.items = slices.Concat(b.items[:b.leading()], []json.RawMessage{message(user, summaryHead+summary)}, kept)
	}
	if a.bare {
		c.items = c.items[c.leading():]
		delete(c.fields, "instructions")
		c.items = slices.Insert(c.items, 0, message("system", plainSystem))
	}
	if err := c.measure(); err != nil {
		panic(err) // the whole of it was measured before
	}
	return &c
}

// headed is the conversation with something at its very beginning.
func (b *Body) headed(head string) *Body {
	c := *b
	c.fields, c.items = maps.Clone(b.fields), slices.Clone(b.items)
	first := gjson.ParseBytes(c.items[0])
	switch content := first.Get("content"); {
	case b.Wire == Responses && c.fields["instructions"] != nil:
		c.fields["instructions"] = encoded(head + " " + gjson.ParseBytes(c.fields["instructions"]).String())
	case c.leading() > 0 && content.Type == gjson.String:
		c.items[0] = message(first.Get("role").String(), head+" "+content.String())
	default:
		c.items = slices.Insert(c.items, 0, message("system", head))
	}
	return &c
}

// measure counts the tokens of all that is sent.
func (b *Body) measure() error {
	n, err := b.count(string(encoded([]any{b.fields, b.items})))
	b.tokens = n
	return err
}

func message(role, text string) json.RawMessage {
	return encoded(map[string]string{"role": role, "content": text})
}

// encoded is JSON of what was JSON before, or is made of strings and numbers.
func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
