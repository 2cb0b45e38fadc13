package proxy

import (
	"strings"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// encodings are of the models whose tokens can be counted here, by the beginning of
// their names. A model that reasons is one of them where its reasoning is seen: what
// is hidden cannot be counted.
var encodings = []struct {
	model   string
	codec   func() *codec.Codec
	reasons bool
}{
	{"gpt-4o", codec.NewO200kBase, false},
	{"chatgpt-4o", codec.NewO200kBase, false},
	{"gpt-4.1", codec.NewO200kBase, false},
	{"gpt-4.5", codec.NewO200kBase, false},
	{"gpt-oss", codec.NewO200kBase, true},
	{"gpt-4", codec.NewCl100kBase, false},
	{"gpt-3.5-turbo", codec.NewCl100kBase, false},
	{"gpt-35-turbo", codec.NewCl100kBase, false}, // Azure's name of it
}

// encodingOf is the encoding of a model, nil where it is not known, or where the
// model reasons and its reasoning was not seen.
func encodingOf(model string, seen bool) func() *codec.Codec {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]) // gateways put the vendor before it
	name = strings.TrimPrefix(name, "ft:")
	for _, e := range encodings {
		rest, ok := strings.CutPrefix(name, e.model)
		if ok && (rest == "" || rest[0] == '-' || rest[0] == ':') && (seen || !e.reasons) {
			return e.codec
		}
	}
	return nil
}

// maxOutput bounds the output that is held for one exchange, in bytes: some 30,000
// tokens.
const maxOutput = 128 << 10

// output is what a model generated, held in memory until its answer has ended: its
// tokens are counted then if the upstream has not told how many there were. Nil is
// not held.
type output struct {
	text []byte
	lost bool // it cannot be counted, or need not be
}

// newOutput is nil where usage is told, or the format is one that tells it unasked.
func (f *flight) newOutput() *output {
	told := f.question.asked || !f.mayOmitUsage()
	f.locked(func() { told = told || f.wantsUsage })
	if told {
		return nil
	}
	return new(output)
}

// read takes the output of a message, or of an answer that came whole.
func (o *output) read(data []byte, e dialect.Event, a *dialect.Answer) {
	if o == nil || o.lost || e.Kind == 0 {
		return
	}
	if a.Usage.Raw != "" || a.Model != "" && encodingOf(a.Model, true) == nil ||
		a.Choices > 1 || e.Kind&(dialect.Audio|dialect.Image|dialect.Summary) != 0 {
		o.lose()
		return
	}
	dialect.Output(data, o.add)
}

func (o *output) add(text string) {
	switch {
	case o.lost:
	case len(o.text)+len(text) > maxOutput:
		o.lose()
	default:
		o.text = append(o.text, text...)
	}
}

func (o *output) lose() { o.text, o.lost = nil, true }

// estimate counts the output tokens of an answer that came whole and did not tell
// them.
func (o *output) estimate(x *exchange.Exchange) {
	if o == nil || len(o.text) == 0 || x.UsageSource != "absent" || x.Outcome != exchange.OK && x.Outcome != exchange.Incomplete {
		return
	}
	newCodec := encodingOf(x.Model(), x.Reasoning == exchange.VisibleReasoning)
	if newCodec == nil {
		return
	}
	if n, err := newCodec().Count(string(o.text)); err == nil {
		x.EstimatedOutput, x.UsageSource = new(int64(n)), exchange.EstimatedUsage
	}
	o.lose()
}
