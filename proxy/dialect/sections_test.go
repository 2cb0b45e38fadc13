package dialect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// told are sections as "part text", the head's before a line of dashes.
func told(body string, head, items []Section) []string {
	var all []string
	for _, list := range [][]Section{head, items} {
		for _, s := range list {
			before, after := s.Text([]byte(body))
			all = append(all, s.Part.String()+" "+string(before)+string(after))
		}
		all = append(all, "-")
	}
	return all[:len(all)-1]
}

func TestAPromptIsCutInTheModelsOrder(t *testing.T) {
	for _, tt := range []struct {
		name    string
		dialect exchange.Dialect
		body    string
		want    []string
	}{
		{"a text alone", exchange.Responses, `{"input":"hi","stream":true,"model":"m"}`, []string{`model "m"`, "-", `user "hi"`}},
		{"input before the tools", exchange.Responses,
			`{"model":"m","input":[{"type":"message","role":"developer","id":"msg_1","content":[{"type":"input_text","text":"be kind"}]},
			{"role":"user","content":"hi \"you\"]"}], "tools" : [ {"name":"x"} ] ,"tool_choice":"auto","store":false,"metadata":{"input":[1]}}`,
			[]string{`model "m"`, `tools [ {"name":"x"} ]`, "-", `instructions "be kind"`, `user "hi \"you\"]"`}},
		{"instructions of their own", exchange.Responses, `{"input":"hi","instructions":"be kind","tools":[],"model":"m","text":{"verbosity":"low","format":{"type":"json_schema"}}}`,
			[]string{`model "m"`, `other {"type":"json_schema"}`, `instructions "be kind"`, "-", `user "hi"`}},
		{"a round of tools", exchange.Responses,
			`{"input":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"zz"},
			{"type":"function_call","name":"x","arguments":"{}","call_id":"c1"},{"type":"function_call_output","call_id":"c1","output":"done"},
			{"role":"assistant","content":[{"type":"output_text","text":"so"},{"type":"refusal","refusal":"no"}]}]}`,
			[]string{"-", `reasoning {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"zz"}`,
				`tool_call {"type":"function_call","name":"x","arguments":"{}","call_id":"c1"}`, `tool_result "done"`, `assistant "so"`, `assistant "no"`}},
		{"what is no text", exchange.Responses,
			`{"input":[{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:"},{"type":"input_file","file_id":"f"}]},
			{"type":"custom_tool_call_output","output":[{"type":"input_image","image_url":"data:"},{"type":"input_text","text":"seen"}]},
			{"type":"computer_call_output","output":{"type":"computer_screenshot","image_url":"u"}},{"type":"item_reference","id":"i"},{"type":"compaction","encrypted_content":"zz"}]}`,
			[]string{"-", `user "look"`, `image {"type":"input_image","image_url":"data:"}`, `file {"type":"input_file","file_id":"f"}`,
				`image {"type":"input_image","image_url":"data:"}`, `tool_result "seen"`, `image {"type":"computer_screenshot","image_url":"u"}`,
				`other {"type":"item_reference","id":"i"}`, `other {"type":"compaction","encrypted_content":"zz"}`}},
		{"chat", exchange.Chat,
			`{"messages":[{"content":"be kind","role":"system"},{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"u"}}]},
			{"role":"assistant","reasoning_content":"hm","content":null,"tool_calls":[{"id":"c"}]},{"role":"tool","tool_call_id":"c","content":"done"}],
			"model":"m","response_format":{"type":"json_object"},"tools":[{}]}`,
			[]string{`model "m"`, `tools [{}]`, `other {"type":"json_object"}`, "-", `instructions "be kind"`, `user "look"`,
				`image {"type":"image_url","image_url":{"url":"u"}}`, `reasoning "hm"`, `tool_call [{"id":"c"}]`, `tool_result "done"`}},
		{"messages", exchange.Messages,
			`{"model":"m","system":[{"type":"text","text":"be kind","cache_control":{"type":"ephemeral"}}],"messages":[
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"c","name":"x","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"done"},{"type":"image","source":{}}]}]}],"tools":[{"name":"x"}]}`,
			[]string{`model "m"`, `tools [{"name":"x"}]`, `instructions "be kind"`, "-", `reasoning {"type":"thinking","thinking":"hm","signature":"s"}`,
				`tool_call {"type":"tool_use","id":"c","name":"x","input":{}}`, `tool_result "done"`, `image {"type":"image","source":{}}`}},
		{"a cache mark is cut out", exchange.Messages,
			`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[],"cache_control":{"type":"ephemeral"}},{"cache_control":{}, "type":"document"}]}]}`,
			[]string{"-", `tool_result {"type":"tool_result","content":[]}`, `file {"type":"document"}`}},
		{"completions", exchange.Completions, `{"prompt":["a","b"],"model":"m"}`, []string{`model "m"`, "-", `user ["a","b"]`}},
		{"ollama's chat", exchange.Ollama, `{"model":"m","messages":[{"role":"user","content":"look","images":["aa"]},{"role":"assistant","thinking":"hm","content":"so"}],"format":"json"}`,
			[]string{`model "m"`, `other "json"`, "-", `user "look"`, `image ["aa"]`, `reasoning "hm"`, `assistant "so"`}},
		{"ollama's generate", exchange.Ollama, `{"prompt":"hi","system":"be kind","model":"m","context":[1,2]}`,
			[]string{`model "m"`, `instructions "be kind"`, `other [1,2]`, "-", `user "hi"`}},
		{"nothing in it", exchange.Chat, `{"model":"","tools":[],"messages":[{"role":"user","content":""},{"role":"user","content":[]},7,null,"loose",[1]]}`, []string{"-", `user "loose"`}},
		{"unknown roles and types", exchange.Responses, `{"input":[{"role":"critic","content":"a"},{"content":[{"type":"new_text","text":"b"},{"type":"new"}],"role":"user"}]}`,
			[]string{"-", `other "a"`, `user "b"`, `user {"type":"new"}`}},
		{"cut off", exchange.Chat, `{"model":"m","messages":[{"role":"user","content":"hi"}]`, []string{"-"}},
		{"no JSON behind it", exchange.Chat, `{"model":"m"} {}`, []string{"-"}},
		{"a list", exchange.Chat, `[{"model":"m"}]`, []string{"-"}},
		{"a dialect without prompts", exchange.Embeddings, `{"model":"m","input":"a"}`, []string{"-"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head, items := ReadRequest(tt.dialect, []byte(tt.body)).Sections()
			if diff := cmp.Diff(tt.want, told(tt.body, head, items)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A hostile body costs neither the stack nor more memory than is said.
func TestTheSectionsOfAHostileBodyAreBounded(t *testing.T) {
	const many = MaxSections + 3
	for name, body := range map[string]string{
		"items":  `{"messages":[` + strings.Repeat(`{"role":"user","content":"x"},`, many) + `{"role":"user","content":"last"}]}`,
		"pieces": `{"messages":[{"role":"user","content":["x"` + strings.Repeat(`,"x"`, many) + `]}]}`,
		"keys":   `{"model":"m"` + strings.Repeat(`,"model":"m"`, many) + `}`,
		"depth":  `{"messages":` + strings.Repeat(`[{"content":`, many) + `"x"` + strings.Repeat(`}]`, many) + `}`,
		"open":   `{"messages":` + strings.Repeat(`[`, 10*many),
	} {
		head, items := ReadRequest(exchange.Chat, []byte(body)).Sections()
		if len(head) > MaxSections || len(items) > MaxSections {
			t.Errorf("%s: %d and %d sections", name, len(head), len(items))
		}
		if name == "items" && (len(items) != MaxSections || items[MaxSections-1].End != strings.Index(body, `"last"`)+6) {
			t.Errorf("the last of %d sections does not take in the rest: %+v", len(items), items[len(items)-1])
		}
	}
}

func FuzzSections(f *testing.F) {
	f.Add([]byte(`{"model":"m","input":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{}}]},"b"],"tools":[{}]}`), uint8(0))
	f.Add([]byte(`{"messages":[{"content":[{"content":[{"content":"x"}],"type":"tool_result"}],"role":"user"}]}`), uint8(2))
	dialects := []exchange.Dialect{exchange.Responses, exchange.Chat, exchange.Messages, exchange.Completions, exchange.Ollama}
	f.Fuzz(func(t *testing.T, body []byte, d uint8) {
		head, items := ReadRequest(dialects[int(d)%len(dialects)], body).Sections()
		if _, ok := parse(body); !ok && len(items) > len(body) {
			t.Errorf("%d sections of %d bytes that are no JSON", len(items), len(body))
		}
		end := 0
		for _, s := range items {
			if s.Start < end || s.End <= s.Start || s.End > len(body) {
				t.Fatalf("%+v begins before %d or is out of %d bytes", s, end, len(body))
			}
			end = s.End
		}
		for _, s := range append(head, items...) {
			before, after := s.Text(body)
			if len(before)+len(after) > s.End-s.Start || int(s.Part) >= len(exchange.Parts()) {
				t.Errorf("%+v has a text of %d bytes", s, len(before)+len(after))
			}
		}
	})
}
