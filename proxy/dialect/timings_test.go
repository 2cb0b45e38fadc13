package dialect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTimingsInTheHeadOfAnAnswer(t *testing.T) {
	for _, c := range []struct {
		name string
		head map[string]string
		want exchange.Server
	}{
		{"none", map[string]string{"Content-Type": "text/event-stream"}, exchange.Server{}},
		{"seconds", map[string]string{"Fireworks-Prefill-Queue-Duration": "0.25", "Fireworks-Prefill-Duration": "1.5"},
			exchange.Server{ServerQueue: new(250 * time.Millisecond), ServerPrefill: new(1500 * time.Millisecond), ServerSource: "fireworks"}},
		{"milliseconds", map[string]string{"X-Queue-Time": "12"}, exchange.Server{ServerQueue: new(12 * time.Millisecond), ServerSource: "tgi"}},
		{"nonsense", map[string]string{"X-Queue-Time": "NaN", "Fireworks-Prefill-Duration": "-1"}, exchange.Server{}},
	} {
		got := HeadTimings(func(name string) string { return c.head[name] })
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
