package web

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis"
)

// models asks for what is usual and returns it as a program reads it.
func models(t *testing.T, c Config, query string) []map[string]any {
	t.Helper()
	w := get(t, New(c), "/-/api/models"+query)
	var p struct {
		Models []map[string]any `json:"models"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != "application/json" || p.Models == nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return p.Models
}

func TestTheAPITellsWhatIsUsualForEachModel(t *testing.T) {
	c := newConfig(t)
	c.Models = func() []*diagnosis.Baseline {
		return []*diagnosis.Baseline{{
			Upstream: "default", Model: "large", ServiceTier: "flex", Rows: 40, Rates: 12,
			LeftOut: map[string]int{"failed": 2}, TPOT: span(20), TokensPerSec: new(48.5), HeadersAtSlot: true,
			Curve: &diagnosis.Curve{
				Floor: *span(250), PerCached: span(0.001), Least: 20, Most: 9000, Fast: 30, Error: 0.02,
				Knots: []diagnosis.Knot{{}, {Tokens: 1000, Prefill: *span(100)}, {Tokens: 9000, Prefill: 1500 * time.Millisecond}},
			},
		}}
	}
	got := models(t, c, "")
	words, _ := got[0]["words"].(string)
	if !strings.Contains(words, "A start of 0.25 s") {
		t.Errorf("words %q", words)
	}
	delete(got[0], "words")
	want := []map[string]any{{
		"upstream": "default", "model": "large", "service_tier": "flex", "rows": 40., "left_out": map[string]any{"failed": 2.},
		"floor_ms": 250., "per_cached_token_ms": 0.001, "least_uncached_tokens": 20., "most_uncached_tokens": 9000.,
		"knots": []any{
			map[string]any{"tokens": 0., "prefill_ms": 0.},
			map[string]any{"tokens": 1000., "prefill_ms": 100.},
			map[string]any{"tokens": 9000., "prefill_ms": 1500.},
		},
		"fast_rows": 30., "error_share": 0.02, "tpot_ms": 20., "rates": 12., "tokens_per_sec": 48.5, "headers_at_slot": true,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAModelOfWhichLittleIsKnownHasNullsAndWordsForThem(t *testing.T) {
	c := newConfig(t)
	c.Models = func() []*diagnosis.Baseline { return []*diagnosis.Baseline{{Upstream: "lab", Model: "new", Rows: 3}} }
	got := models(t, c, "?lang=zh")[0]
	for _, key := range []string{"floor_ms", "knots", "per_cached_token_ms", "tpot_ms", "tokens_per_sec", "fast_rows", "error_share"} {
		if v, ok := got[key]; !ok || v != nil {
			t.Errorf("%s is %v", key, v)
		}
	}
	if words, _ := got["words"].(string); !strings.Contains(words, "请求太少") {
		t.Errorf("words %q", words)
	}
}

func TestWithoutABookNoModelIsKnown(t *testing.T) {
	if got := models(t, newConfig(t), ""); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
