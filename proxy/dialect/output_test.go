package dialect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/dialect"
)

func TestOutputIsWhatWasGenerated(t *testing.T) {
	for data, want := range map[string][]string{
		`{"choices":[{"delta":{"content":"Hi"}}]}`:                                                                      {"Hi"},
		`{"choices":[{"delta":{"content":"a\n\"b\" é"}}]}`:                                                              {"a\n\"b\" é"},
		`{"choices":[{"delta":{"content":"{\"text\":\"x\"}"}}]}`:                                                        {`{"text":"x"}`},
		`{"choices":[{"delta":{"reasoning_content":"Hm","reasoning":"Hm","content":"Hi"}}]}`:                            {"Hm", "Hi"},
		`{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`:                   {"a", "b"},
		`{"choices":[{"delta":{"content":null,"refusal":"No"}}]}`:                                                       {"No"},
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":"}}]}}]}`:   {"f", `{"a":`},
		`{"choices":[{"delta":{"tool_calls":[{"custom":{"name":"f","input":"x"}}]}}]}`:                                  {"f", "x"},
		`{"choices":[{"delta":{"function_call":{"name":"f","arguments":"{}"}}}]}`:                                       {"f", "{}"},
		`{"choices":[{"text":"abc"}]}`:                                                                                  {"abc"},
		`{"choices":[{"message":{"content":"Hi"}}]}`:                                                                    {"Hi"},
		`{"choices":[{"delta":{"content":"Hi"},"message":{"content":"Hi all"}}]}`:                                       {"Hi"},
		`{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`:                         {"a", "b"},
		`{"choices":[{"delta":{"role":"assistant","content":""},"logprobs":{"content":"x"},"finish_reason":"stop"}]}`:   nil,
		`{"choices":[],"usage":{"prompt_tokens":1},"obfuscation":"xyz"}`:                                                nil,
		`{"choices":[{"delta":{"tool_calls":"[{\"function\":{\"name\":\"f\"}}]","content":{"text":"x"},"refusal":1}}]}`: nil,
		`{"choices":"x"}`: nil, `{"choices":[1,"a",null,[{"text":"x"}]]}`: nil, `[]`: nil, `"choices"`: nil, ``: nil,
	} {
		var got []string
		dialect.Output([]byte(data), func(s string) { got = append(got, strings.Clone(s)) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", data, diff)
		}
	}
}

// What is read here as text is what the reader counts the bytes of.
func TestOutputIsAsLongAsTheReaderSays(t *testing.T) {
	for _, data := range []string{
		`{"choices":[{"delta":{"reasoning":"Hm","content":"é"}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}},{"function":{"arguments":"{}"}}]}}]}`,
		`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]},{"type":"text","text":"Hi"}]}}]}`,
		`{"choices":[{"text":"one two"}]}`,
	} {
		e, n := dialect.New("chat").Message("", []byte(data)), 0
		dialect.Output([]byte(data), func(s string) { n += len(s) })
		if n != e.ThoughtBytes+e.AnswerBytes || n == 0 {
			t.Errorf("%s: %d bytes, the reader says %d", data, n, e.ThoughtBytes+e.AnswerBytes)
		}
	}
}
