package web

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// largeLog is a log of so many exchanges, two a second up to noon. Most are made
// by SQLite itself from a few hundred: to record them one by one would take longer
// than all that is measured.
func largeLog(b *testing.B, n int) *store.Store {
	b.Helper()
	path := filepath.Join(b.TempDir(), "log.db")
	s, err := store.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	const models = 500
	if err := s.Save(b.Context(), ordinary(models)); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	copies, columns := multiply(b, db)
	_, err = db.ExecContext(b.Context(), fmt.Sprintf(`
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO exchange (%s) SELECT %s FROM n CROSS JOIN exchange`, n/models-1, columns, copies))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// multiply is the columns of a copy, each with an id and a time of its own.
func multiply(b *testing.B, db *sql.DB) (copies, columns string) {
	b.Helper()
	rows, err := db.QueryContext(b.Context(), "SELECT name FROM pragma_table_info('exchange')")
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var from, to []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			b.Fatal(err)
		}
		to = append(to, name)
		switch name {
		case "id":
			name = "printf('%08d', 99999999 - i) || id"
		case "started_at":
			name = "started_at - i * 250000000000"
		case "session_id":
			name = "session_id || (i / 20)"
		}
		from = append(from, name)
	}
	return strings.Join(from, ", "), strings.Join(to, ", ")
}

// ordinary are n exchanges as an agent makes them, two a second up to noon.
func ordinary(n int) (all []*exchange.Exchange) {
	for i := range n {
		all = append(all, seeded(fmt.Sprintf("99999999-%04d", n-i), time.Duration(i)*500*time.Millisecond, func(x *exchange.Exchange) {
			uncached := int64(200 + i*i%9000)
			prompted(x, 40_000+uncached, 40_000)
			answered(x, 600+float64(uncached)/12, 3000+float64(i%97)*90, int64(60+i%300))
			x.ModelRequested = []string{"gpt-5-codex", "gpt-5-mini", "o5", "local"}[i%10%4]
			x.SessionID, x.TurnID, x.KeyID = fmt.Sprintf("session-%d-", i%7), fmt.Sprintf("turn-%d-%d", i%7, i/9), "k_1"
			x.Client, x.ResponseID = "codex_cli_rs/0.171.0", fmt.Sprintf("resp_%08x", i*2654435761%4294967296)
			if i%50 == 49 {
				x.Outcome, x.Error = exchange.UpstreamCut, "the stream ended before its terminal event"
			}
		}))
	}
	return all
}

// BenchmarkLargeLog asks for views of a log of a million exchanges. What a line
// tells is p95-ms, the time that the server took in 19 of 20 cases.
func BenchmarkLargeLog(b *testing.B) {
	s := largeLog(b, 1_000_000)
	page := New(Config{
		Store: s, State: func() store.State { return store.State{} }, Listen: "http://localhost:8838",
		Upstreams: []Upstream{{"default", "https://api.example.com/v1"}}, Now: func() time.Time { return noon },
	})
	for _, target := range []string{
		"/-/api/requests", "/-/api/requests?model=o5", "/-/api/requests?bound=stalled", "/-/api/requests?outcome=upstream_cut",
		"/-/api/requests?session=session-3-90", "/-/api/requests?from=-30d&to=-3d",
		"/-/", "/-/?model=o5", "/-/?bound=prefill", "/-/?outcome=upstream_cut", "/-/?session=session-3-90", "/-/?from=-30d&to=-3d",
		"/-/?key=k_1", "/-/?q=resp_00", "/-/?sort=total_ms", "/-/?model=o5&outcome=upstream_cut", "/-/?key=k_1&to=-3d",
	} {
		b.Run(target, func(b *testing.B) { p95(b, page, target) })
	}
}

// p95 asks b.N times, of which the first counts as all others, and reports the time that 19 of 20 took at most.
func p95(b *testing.B, page http.Handler, target string) {
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if w := getIn(b, b.Context(), page, target); w.Code != http.StatusOK {
			b.Fatalf("%s: %d\n%s", target, w.Code, w.Body)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[int(0.95*float64(len(took)-1)+0.5)])/1e6, "p95-ms")
	b.ReportMetric(float64(took[len(took)-1])/1e6, "most-ms")
}
