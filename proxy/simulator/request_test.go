package simulator

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestRequestIsReadInEachWireFormat(t *testing.T) {
	for name, c := range map[string]struct {
		dialect exchange.Dialect
		body    string
		want    request
	}{
		"Responses of an agent": {exchange.Responses, `{"model":"m","stream":true,"instructions":"be brief","max_output_tokens":9,
			"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},
			{"type":"function_call","name":"exec_command","call_id":"c","arguments":"{}"},
			{"type":"function_call_output","call_id":"c","output":"ok"}],
			"tools":[{"type":"web_search"},{"type":"function","name":"first"},{"type":"function","name":"exec_command"}]}`,
			request{model: "m", stream: true, limit: 9, tool: "exec_command", results: 1, inputs: 3,
				prompt: `[{"type":"web_search"},{"type":"function","name":"first"},{"type":"function","name":"exec_command"}]` +
					`be briefuserhiexec_command{}ok`}},
		"Responses of a text": {exchange.Responses, `{"model":"m","input":"hi"}`,
			request{model: "m", inputs: 1, prompt: "hi"}},
		"Chat": {exchange.Chat, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":5,
			"messages":[{"role":"system","content":"s"},{"role":"tool","tool_call_id":"x","content":"r"}],
			"tools":[{"type":"function","function":{"name":"look"}}],"return_progress":true}`,
			request{model: "m", stream: true, usage: true, limit: 5, tool: "look", results: 1, inputs: 2, progress: true,
				prompt: `[{"type":"function","function":{"name":"look"}}]systemstoolr`}},
		"Messages": {exchange.Messages, `{"model":"m","max_tokens":7,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],
			"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"},{"type":"tool_result","content":"q"}]}],
			"tools":[{"name":"look"}]}`,
			request{model: "m", limit: 7, tool: "look", results: 2, marked: true, inputs: 1,
				prompt: `[{"name":"look"}]suserrq`}},
		"Completions": {exchange.Completions, `{"model":"m","prompt":"once","max_tokens":-1}`,
			request{model: "m", limit: -1, inputs: 1, prompt: "once"}},
		"Embeddings, which never stream": {exchange.Embeddings, `{"model":"m","input":["a","b"],"stream":true}`,
			request{model: "m", inputs: 2, prompt: "ab"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(c.dialect, gjson.Parse(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(request{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConversationThatGrowsKeepsItsPromptAsPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.StringMatching("[a-z ]{0,20}"), 1, 8).Draw(t, "items")
		n := rapid.IntRange(1, len(items)).Draw(t, "before")
		build := func(items []string) string {
			input := []object{}
			for i, item := range items {
				input = append(input, object{"type": "message", "id": i, "role": "user", "content": item})
			}
			list, _ := json.Marshal(input)
			// The input stands before the tools, as Codex sends them.
			ask, err := read(exchange.Responses, gjson.Parse(`{"model":"m","input":`+string(list)+`,"tools":[{"name":"f"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			return ask.prompt
		}
		if before, after := build(items[:n]), build(items); !strings.HasPrefix(after, before) {
			t.Fatalf("%q does not begin with %q", after, before)
		}
	})
}

func TestToolIsCalledUntilTheConversationHasItsResults(t *testing.T) {
	results := map[string]object{
		"responses": {"type": "function_call_output", "output": "hello"},
		"chat":      {"role": "tool", "content": "hello"},
		"messages":  {"role": "user", "content": []object{{"type": "tool_result", "content": "hello"}}},
	}
	c := one(plain)
	c.ToolRounds = 2
	each(t, c, func(b *bench, a api) {
		result, hasTools := results[a.name]
		if !hasTools {
			return
		}
		conversation := []object{{"role": "user", "content": "hello"}}
		for range 3 {
			more := object{"input": conversation, "messages": conversation}
			said := a.spoken(b.post(a.path, a.of("", more, a.tools()), "").messages)
			if called := said == `{"cmd":"echo hello"}`; called != (len(conversation) < 3) {
				b.t.Errorf("after %d items: %q", len(conversation), said)
			}
			conversation = append(conversation, result)
		}
	})
}

func TestToolThatIsNotOfferedIsNotCalled(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		if said := a.spoken(b.post(a.path, a.of("hello"), "tools=2").messages); !strings.HasPrefix(said, "Done:") {
			b.t.Errorf("said %q", said)
		}
	})
}

func TestGzippedRequestIsRead(t *testing.T) {
	inBubble(t, one(plain), func(b *bench) {
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		w.Write([]byte(`{"model":"m","input":"hello"}`))
		w.Close()
		req, err := http.NewRequest(http.MethodPost, "http://simulator/responses", &zipped)
		if err != nil {
			b.t.Fatal(err)
		}
		req.Header.Set("Content-Encoding", "gzip")
		if got := b.do(req); got.status != 200 {
			b.t.Errorf("status %d, body %s", got.status, got.body.Raw)
		}
	})
}
