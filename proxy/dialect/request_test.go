package dialect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestARequestTellsHowItsAnswerIsToBeRead(t *testing.T) {
	yes, no, three := true, false, int64(3)
	for _, tt := range []struct {
		name    string
		dialect exchange.Dialect
		body    string
		want    Request
	}{
		{"chat", exchange.Chat, `{"model":"tern-2","messages":[{"content":"\"stream\":false"}],"stream":true,"stream_options":{"include_usage":true},"n":3}`,
			Request{Model: "tern-2", Stream: &yes, IncludeUsage: &yes, Choices: &three}},
		{"one choice is nothing to say", exchange.Chat, `{"model":"m","n":1}`, Request{Model: "m"}},
		{"n means choices only where there are any", exchange.Responses, `{"model":"m","n":3,"stream_options":{"include_usage":true}}`, Request{Model: "m"}},
		{"no stream", exchange.Messages, ` {"stream" : false, "model" : "plover"} `, Request{Model: "plover", Stream: &no}},
		{"a frame of a socket", exchange.Responses, `{"type":"response.create","model":"tern-5","stream":true,"input":[]}`, Request{Model: "tern-5", Stream: &yes}},
		{"a response that goes on", exchange.Responses, `{"model":"m","previous_response_id":"resp_9","input":[]}`, Request{Model: "m", Continues: "resp_9"}},
		{"a conversation kept by the upstream", exchange.Responses, `{"model":"m","conversation":{"id":"conv_9"}}`, Request{Model: "m", Conversation: true}},
		{"neither of them", exchange.Responses, `{"model":"m","conversation":null,"previous_response_id":null}`, Request{Model: "m"}},
		{"what only Responses knows", exchange.Chat, `{"model":"m","conversation":"c","previous_response_id":"r"}`, Request{Model: "m"}},
		{"the last of two keys", exchange.Chat, `{"model":"a","stream":true,"model":"b","stream":false}`, Request{Model: "b", Stream: &no}},
		{"escapes in a key", exchange.Chat, `{"mod\u0065l":"m","n\u0031":2}`, Request{Model: "m"}},
		{"white space all over", exchange.Chat, " {\n \"model\" :\t\"m\" , \"n\" : 2 } \n", Request{Model: "m", Choices: new(int64(2))}},
		{"escapes", exchange.Chat, `{"model":"a\u002fb"}`, Request{Model: "a/b"}},
		{"values of another kind", exchange.Chat, `{"model":7,"stream":"true","n":"3","stream_options":"{\"include_usage\":true}"}`, Request{}},
		{"fewer than no choices", exchange.Chat, `{"n":-3}`, Request{}},
		{"cut off in the input", exchange.Responses, `{"model":"tern-5","stream":true,"input":[{"role":"user","content":"tell`, Request{Model: "tern-5", Stream: &yes}},
		{"cut off in the model", exchange.Chat, `{"model":"tern-`, Request{}},
		{"cut off in a number", exchange.Chat, `{"model":"m","n":3`, Request{Model: "m"}},
		{"cut off in a word", exchange.Chat, `{"model":"m","stream":tru`, Request{Model: "m"}},
		{"cut off in the options", exchange.Chat, `{"model":"m","stream_options":{"include_usage":true`, Request{Model: "m"}},
		{"a list", exchange.Chat, `[{"model":"m"}]`, Request{}},
		{"no JSON", exchange.Chat, `model=m&x={"model":"m"}`, Request{}},
		{"nothing", exchange.Chat, ``, Request{}},
		{"no known format", exchange.Other, `{"model":"m"}`, Request{}},
		{"a huge name", exchange.Chat, `{"model":"` + strings.Repeat("m", 9999) + `"}`, Request{Model: strings.Repeat("m", maxWord)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := []byte(tt.body)
			got := ReadRequest(tt.dialect, body)
			scribble(body)
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(Request{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatAClientSaysOfItselfDoesNotTellRequestsApart(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"model":"m","client_metadata":{"a":1,"b":2},"input":"x"}`: {`{"model":"m","client_metadata":`, `,"input":"x"}`},
		`{"model":"m","client_metadata":null}`:                      {`{"model":"m","client_metadata":`, `}`},
		`{"model":"m","input":{"client_metadata":1}}`:               {`{"model":"m","input":{"client_metadata":1}}`, ``},
		`{"client_metadata":{"a"`:                                   {`{"client_metadata":{"a"`, ``},
		`no JSON`:                                                   {`no JSON`, ``},
		``:                                                          {``, ``},
	} {
		head, tail := ReadRequest(exchange.Responses, []byte(body)).Gist()
		if got := [2]string{string(head), string(tail)}; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
