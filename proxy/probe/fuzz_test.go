package probe

import (
	"encoding/json"
	"testing"
)

// Of a conversation that is taken, what is sent is JSON, abridged or not.
func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"user","content":"c"},{"role":"user","content":"d"}]}`))
	f.Add([]byte(`{"instructions":"i","input":[{"role":"user"},{"role":"user","content":[]},{"role":"user"},null,{"role":"user"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := ReadBody(raw)
		if err != nil {
			return
		}
		for _, a := range []abridgement{{}, {summarised: true}, {bare: true}, {summarised: true, bare: true}} {
			sent := b.abridged(a, "what was said").headed("head")
			if err := json.Unmarshal(encoded([]any{sent.fields, sent.items}), new(any)); err != nil {
				t.Error(err)
			}
			if !a.summarised && len(sent.asked()) != len(b.asked()) {
				t.Errorf("%d turns of %d", len(sent.asked()), len(b.asked()))
			}
			if sent.tokens <= 0 || len(sent.items) == 0 {
				t.Errorf("%d tokens in %d items", sent.tokens, len(sent.items))
			}
		}
	})
}
