package dialect_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/dialect"
)

func TestUsageIsAskedForBesideTheStream(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"m","stream":true}`:                       `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`,
		"\n { \"stream\" : true , \"n\":1e400 } \n":         "\n { \"stream\" : true,\"stream_options\":{\"include_usage\":true} , \"n\":1e400 } \n",
		`{"stream":true,"stream_options":{}}`:               `{"stream":true,"stream_options":{"include_usage":true}}`,
		`{"stream":true,"stream_options":{ }}`:              `{"stream":true,"stream_options":{"include_usage":true}}`,
		`{"stream":true,"stream_options":null}`:             `{"stream":true,"stream_options":{"include_usage":true}}`,
		`{"stream_options": { "a":[1]},"stream":true}`:      `{"stream_options": {"include_usage":true, "a":[1]},"stream":true}`,
		`{"t":"é \"stream\":true","stream":true}`:           `{"t":"é \"stream\":true","stream":true,"stream_options":{"include_usage":true}}`,
		`{"stream":false,"stream":true}`:                    `{"stream":false,"stream":true,"stream_options":{"include_usage":true}}`,
		`{"messages":[{"stream_options":1}],"stream":true}`: `{"messages":[{"stream_options":1}],"stream":true,"stream_options":{"include_usage":true}}`,
	} {
		if got := dialect.AskUsage([]byte(body)); string(got) != want {
			t.Errorf("%s\nbecame %s\nwant   %s", body, got, want)
		}
	}
}

func TestUsageIsNotAskedForAgainstTheRequest(t *testing.T) {
	for _, body := range []string{
		`{"stream":true,"stream_options":{"include_usage":false}}`,
		`{"stream":true,"stream_options":{"include_usage":true}}`,
		`{"stream":true,"stream_options":{"include_usage":null}}`,
		`{"stream":true,"stream_options":"none"}`,
		`{"stream":false}`, `{"stream":"true"}`, `{"stream":1}`, `{"stream":null}`, `{"model":"m"}`,
		`{"stream":true,"stream":false}`,
		`{"nested":{"stream":true}}`,
		`{"stream":true`, `[{"stream":true}]`, `"stream"`, `stream=true`, ``,
	} {
		if got := dialect.AskUsage([]byte(body)); got != nil {
			t.Errorf("%s became %s", body, got)
		}
	}
}

// Whatever else a request says, it says the same when it asks.
func TestAskingChangesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.MapOf(rapid.StringMatching(`[a-z_"\\é]{0,9}`), rapid.OneOf(
			rapid.Just(any("stream_options")), rapid.Just(any(true)), rapid.Just(any(nil)), rapid.Just(any(1.5)),
			rapid.Just(any([]any{map[string]any{"stream": true}})), rapid.Just(any(map[string]any{"include_usage": false})),
		)).Draw(t, "fields")
		fields["stream"] = true
		if rapid.Bool().Draw(t, "options") {
			fields["stream_options"] = rapid.SampledFrom([]any{nil, map[string]any{}, map[string]any{"x": 1.0}}).Draw(t, "of")
		}
		indent := rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent")
		body, err := json.MarshalIndent(fields, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		before := string(body)
		var got map[string]any
		if err := json.Unmarshal(dialect.AskUsage(body), &got); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		options, _ := fields["stream_options"].(map[string]any)
		want := map[string]any{"include_usage": true}
		for k, v := range options {
			want[k] = v
		}
		fields["stream_options"] = want
		if diff := cmp.Diff(fields, got); diff != "" || string(body) != before {
			t.Fatalf("%s: %s", body, diff)
		}
		if again := dialect.AskUsage(dialect.AskUsage(body)); again != nil {
			t.Fatalf("asked twice: %s", again)
		}
	})
}
