package simulator

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// usages of one answer of 500 prompt tokens, 384 of them cached, and 60 output
// tokens, 50 of them reasoning, as each API words it.
var usages = map[string]struct{ path, want string }{
	"responses":   {"response.usage", `{"input_tokens":500,"input_tokens_details":{"cached_tokens":384},"output_tokens":60,"output_tokens_details":{"reasoning_tokens":50},"total_tokens":560}`},
	"chat":        {"usage", `{"completion_tokens":60,"completion_tokens_details":{"reasoning_tokens":50},"prompt_tokens":500,"prompt_tokens_details":{"cached_tokens":384},"total_tokens":560}`},
	"completions": {"usage", `{"completion_tokens":60,"completion_tokens_details":{"reasoning_tokens":50},"prompt_tokens":500,"prompt_tokens_details":{"cached_tokens":384},"total_tokens":560}`},
	"messages":    {"usage", `{"cache_creation_input_tokens":0,"cache_read_input_tokens":384,"input_tokens":116,"output_tokens":60}`},
}

func TestUsageIsToldAsEachVendorTellsIt(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		b.post(a.path, a.of(text(500)), "")
		asked := a.of(text(500), object{"stream_options": object{"include_usage": true}})
		var told gjson.Result
		for _, e := range events(b.post(a.path, asked, "reasoning=hidden:50").messages) {
			if u := e.Get(usages[a.name].path); u.IsObject() {
				told = u
			}
		}
		if told.Raw != usages[a.name].want {
			b.t.Errorf("stream tells %s", told.Raw)
		}
		whole := b.post(a.path, a.of(text(500), object{"stream": false}), "reasoning=hidden:50").body.Get("usage")
		if whole.Raw != usages[a.name].want {
			b.t.Errorf("body tells %s", whole.Raw)
		}
	})
}

func TestChatStreamTellsNoUsageUnlessAsked(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		if a.name != "chat" && a.name != "completions" {
			return
		}
		for _, m := range b.post(a.path, a.of(text(500)), "").messages {
			if strings.Contains(m.data, "usage") {
				b.t.Errorf("told in %s", m.data)
			}
		}
	})
}

func TestPromptMarkedForTheCacheIsWrittenToItOnce(t *testing.T) {
	inBubble(t, one(plain), func(b *bench) {
		marked := object{"cache_control": object{"type": "ephemeral"}, "stream": false}
		messages := apis[3]
		for _, want := range []string{
			`{"cache_creation_input_tokens":384,"cache_read_input_tokens":0,"input_tokens":116,"output_tokens":10}`,
			`{"cache_creation_input_tokens":0,"cache_read_input_tokens":384,"input_tokens":116,"output_tokens":10}`,
		} {
			got := b.post(messages.path, messages.of(text(500), marked), "").body.Get("usage").Raw
			if got != want {
				b.t.Errorf("usage %s, want %s", got, want)
			}
		}
	})
}

// otherwise are the ways to tell counts that differ from the server's own, with
// what each API then says of 500 prompt tokens, 384 of them cached, and 60 output
// tokens, 50 of them reasoning.
var otherwise = map[string]map[string]string{
	"usage=unreported": {},
	"cached=unreported": {
		"responses": `{"input_tokens":500,"output_tokens":60,"output_tokens_details":{"reasoning_tokens":50},"total_tokens":560}`,
		"chat":      `{"completion_tokens":60,"completion_tokens_details":{"reasoning_tokens":50},"prompt_tokens":500,"total_tokens":560}`,
		"messages":  `{"input_tokens":500,"output_tokens":60}`,
	},
	"cached=zero": {
		"responses": `{"input_tokens":500,"input_tokens_details":{"cached_tokens":0},"output_tokens":60,"output_tokens_details":{"reasoning_tokens":50},"total_tokens":560}`,
		"chat":      `{"completion_tokens":60,"completion_tokens_details":{"reasoning_tokens":50},"prompt_tokens":500,"prompt_tokens_details":{"cached_tokens":0},"total_tokens":560}`,
		"messages":  `{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":500,"output_tokens":60}`,
	},
	"thoughts=unreported": {
		"responses": `{"input_tokens":500,"input_tokens_details":{"cached_tokens":384},"output_tokens":60,"total_tokens":560}`,
		"chat":      `{"completion_tokens":60,"prompt_tokens":500,"prompt_tokens_details":{"cached_tokens":384},"total_tokens":560}`,
		"messages":  `{"cache_creation_input_tokens":0,"cache_read_input_tokens":384,"input_tokens":116,"output_tokens":60}`,
	},
	"thoughts=apart": {
		"responses": `{"input_tokens":500,"input_tokens_details":{"cached_tokens":384},"output_tokens":10,"output_tokens_details":{"reasoning_tokens":50},"total_tokens":560}`,
		"chat":      `{"completion_tokens":10,"completion_tokens_details":{"reasoning_tokens":50},"prompt_tokens":500,"prompt_tokens_details":{"cached_tokens":384},"total_tokens":560}`,
		"messages":  `{"cache_creation_input_tokens":0,"cache_read_input_tokens":384,"input_tokens":116,"output_tokens":60}`,
	},
}

func TestCountsAreToldOtherwiseAsSet(t *testing.T) {
	for knob, want := range otherwise {
		each(t, one(plain), func(b *bench, a api) {
			want := want[strings.Replace(a.name, "completions", "chat", 1)]
			asked := a.of(text(500), object{"stream_options": object{"include_usage": true}})
			b.post(a.path, asked, "")
			var told string
			for _, e := range events(b.post(a.path, asked, knob+", reasoning=hidden:50").messages) {
				if u := e.Get(usages[a.name].path); u.IsObject() {
					told = u.Raw
				}
			}
			asked["stream"] = false
			whole := strings.TrimPrefix(b.post(a.path, asked, knob+", reasoning=hidden:50").body.Get("usage").Raw, "null")
			if diff := cmp.Diff([]string{want, want}, []string{told, whole}); diff != "" {
				b.t.Errorf("%s: %s", knob, diff)
			}
		})
	}
}
