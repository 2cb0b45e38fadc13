package dialect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// anyItem is an item of a Responses conversation as a client may write it.
var anyItem = rapid.Custom(func(t *rapid.T) string {
	text, err := json.Marshal(rapid.StringN(1, -1, -1).Draw(t, "text"))
	if err != nil {
		t.Fatal(err)
	}
	shape := rapid.SampledFrom([]string{
		`{"role":"user","content":%s}`, `{"content":[{"type":"input_text","text":%s},{"type":"input_image","image_url":"u"}],"role":"user"}`,
		`{"type":"function_call","arguments":%s}`, `{"type":"function_call_output","output":%s}`, `{"type":"reasoning","summary":[],"encrypted_content":%s}`,
		`{"type":"message","role":"developer","content":[{"type":"input_text","text":%s}]}`, `{"type":"compaction","encrypted_content":%s}`,
	}).Draw(t, "shape")
	return fmt.Sprintf(shape, text)
})

// asked is a body of Responses in the order of Codex: the input stands before
// the tools.
func asked(items ...string) []byte {
	return []byte(`{"model":"m","stream":true,"input":[` + strings.Join(items, ",") + `],"tools":[{"name":"x"}],"store":false}`)
}

func TestAConversationThatGrowsLeavesAllSectionsAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(anyItem, 1, 8).Draw(t, "items")
		n := rapid.IntRange(0, len(items)).Draw(t, "earlier")
		short, long := asked(items[:n]...), asked(items...)
		head, before := ReadRequest(exchange.Responses, short).Sections()
		headNow, now := ReadRequest(exchange.Responses, long).Sections()
		if len(now) < len(before)+len(items)-n || !slices.Equal(before, now[:len(before)]) {
			t.Fatalf("%d items gave %+v, %d gave %+v", n, before, len(items), now)
		}
		if len(head) != 2 || !slices.Equal(told(string(short), head, before), told(string(long), headNow, now[:len(before)])) {
			t.Fatalf("the earlier sections do not read alike: %q and %q", told(string(short), head, before), told(string(long), headNow, now))
		}
	})
}

// Clients move the mark of the cache on with each request, and turn a text into
// a list to set it.
func TestAMessageReadsTheSameHoweverItIsWrapped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(rapid.StringN(1, -1, -1).Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		var first []string
		for _, shape := range []string{
			`{"role":"user","content":%s}`, `{"content":%s,"role":"user"}`, `{"role":"user","content":[{"type":"text","text":%s}]}`,
			`{"role":"user","content":[{"type":"text","text":%s,"cache_control":{"type":"ephemeral"}}]}`,
			"{\"role\":\"user\",\n \"content\": [ {\"cache_control\": {}, \"text\": %s, \"type\":\"text\"} ]}",
		} {
			body := `{"messages":[` + fmt.Sprintf(shape, text) + `]}`
			head, items := ReadRequest(exchange.Messages, []byte(body)).Sections()
			got := told(body, head, items)
			if first == nil {
				first = got
			}
			if diff := cmp.Diff(first, got); diff != "" || len(items) != 1 {
				t.Fatalf("%s reads differently (-want +got):\n%s", body, diff)
			}
		}
	})
}

func TestTheTurnsOfARealCodexOnlyExtendEachOther(t *testing.T) {
	folder := filepath.Join(filepath.Dir(corpus(t)), "codex", "samples")
	var before []string
	for turn, sections := range []int{7, 9, 11} {
		body, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("responses-0.171-turn%d.body.json", turn+1)))
		if err != nil {
			t.Skipf("NO CODEX SAMPLES: %v", err)
		}
		head, items := ReadRequest(exchange.Responses, body).Sections()
		now := told(string(body), head, items)
		if len(head)+len(items) != sections || !strings.HasPrefix(now[1], "tools [") || !strings.HasPrefix(now[3], "instructions ") {
			t.Errorf("turn %d has %d sections in the head, %d items", turn+1, len(head), len(items))
		}
		if !slices.Equal(before, now[:len(before)]) {
			t.Errorf("turn %d does not extend the one before", turn+1)
		}
		before = now
	}
}
