package web

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/ttftap/ttftap/store"
	"github.com/ttftap/ttftap/store/large"
)

// largeTargets are views of a large log: each filter that has an index of its own,
// then the others, which are searched for no further back than is bearable.
var largeTargets = []string{
	"/-/api/requests",
	"/-/api/requests?from=-30d&to=-3d",
	"/-/api/requests?model=o5",
	"/-/api/requests?bound=wait",
	"/-/api/requests?outcome=upstream_cut",
	"/-/api/requests?session=0199e5a0-0000-7000-8000-00000012003c",
	"/-/api/requests?turn=0199e5a1-0000-7000-8000-00000012003c",
	"/-/api/requests?experiment=none",

	"/-/", "/-/?from=-30d&to=-3d", "/-/?model=o5", "/-/?bound=decode", "/-/?outcome=upstream_cut",
	"/-/?session=0199e5a0-0000-7000-8000-00000012003c", "/-/?turn=0199e5a1-0000-7000-8000-00000012003c", "/-/?experiment=none",

	"/-/?upstream=local", "/-/?key=k_0be344", "/-/?client=curl", "/-/?cause=queue", "/-/?q=resp_00", "/-/?min_first_token_ms=1200",
	"/-/?min_prompt_tokens=48000", "/-/?min_excess_ms=100", "/-/?sort=total_ms", "/-/?model=o5&outcome=upstream_cut", "/-/?key=k_1&to=-3d",

	"/-/charts", "/-/charts?model=o5", "/-/models", "/-/experiments", "/-/connect", "/-/api/models",
}

// BenchmarkLargeLog asks for views of a large log, of ROWS exchanges. What a line
// tells is p95-ms, the time that the server took in 19 of 20 cases.
func BenchmarkLargeLog(b *testing.B) {
	s, err := store.OpenReader(b.Context(), large.Log(b, large.Rows()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	page := New(Config{
		Store: s, State: func() store.State { return store.State{} }, Listen: "http://localhost:8838",
		Upstreams: []Upstream{{"default", "https://api.example.com/v1"}}, Now: func() time.Time { return noon },
	})
	for _, target := range largeTargets {
		b.Run(target, func(b *testing.B) { p95(b, page, target) })
	}
}

// p95 asks b.N times, of which the first counts as all others, and reports the time that 19 of 20 took at most.
func p95(b *testing.B, page http.Handler, target string) {
	var took []time.Duration
	begun := large.Processor(b)
	for b.Loop() {
		start := time.Now()
		if w := getIn(b, b.Context(), page, target); w.Code != http.StatusOK {
			b.Fatalf("%s: %d\n%s", target, w.Code, w.Body)
		}
		took = append(took, time.Since(start))
	}
	b.ReportMetric(float64(large.Processor(b)-begun)/1e6/float64(len(took)), "cpu-ms")
	slices.Sort(took)
	b.ReportMetric(float64(took[int(0.95*float64(len(took)-1)+0.5)])/1e6, "p95-ms")
	b.ReportMetric(float64(took[len(took)-1])/1e6, "most-ms")
}
