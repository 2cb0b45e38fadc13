package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

func besideFaults() []fault {
	s := new(siege)
	return []fault{{name: "page and export under attack beside 20 streams", tries: 3, try: s.try, told: s.told}}
}

// siege is the page under attack while streams go on.
type siege struct {
	alone, beside []time.Duration // how late chunks came
}

const (
	siegeRows   = 20_000                // in the log
	siegeLimit  = 20 * time.Millisecond // that it may add to the 99th percentile
	siegeRounds = 2
)

// besiegers are addresses, and how many clients ask for each again and again without
// a pause.
var besiegers = []struct {
	path    string
	clients int
}{
	{"/-/", 4}, {"/-/?bound=prefill&sort=total&min_first_token_ms=1&lang=zh", 2}, {"/-/charts", 2}, {"/-/models", 2},
	{"/-/api/requests?limit=500&q=row", 2}, {"/-/export.csv", 2}, {"/-/export.jsonl?outcome=ok", 2}, {"/-/live", 5},
}

func (s *siege) told() string {
	return fmt.Sprintf("p99 of the delay: %.1f ms alone, %.1f ms under attack", inMS(percentile99(s.alone)), inMS(percentile99(s.beside)))
}

func (s *siege) try(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(paced))
	t.Cleanup(upstream.Close)
	path := logOf(t)
	if err := keep(path, someRows(inChaos(1000, siegeRows))); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, upstream.URL, path)
	var alone, beside []time.Duration
	for range inChaos(0, siegeRounds) {
		alone = append(alone, streamsOf(t, c.base)...)
	}
	ctx, stop := context.WithCancel(t.Context())
	var attack sync.WaitGroup
	for _, b := range besiegers {
		for range b.clients {
			attack.Go(func() {
				for ctx.Err() == nil {
					drain(ctx, c.base+b.path)
				}
			})
		}
	}
	for range inChaos(1, siegeRounds) {
		beside = append(beside, streamsOf(t, c.base)...)
	}
	stop()
	attack.Wait()
	c.recorded(t)
	s.alone, s.beside = append(s.alone, alone...), append(s.beside, beside...)
	if added := percentile99(beside) - percentile99(alone); isChaos() && added > siegeLimit {
		t.Errorf("the attack adds %v to the 99th percentile of the delay", added)
	}
}

func percentile99(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[(len(sorted)-1)*99/100]
}

func inMS(d time.Duration) float64 { return d.Seconds() * 1000 }
