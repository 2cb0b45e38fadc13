package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A stream beside the page: so many at a time, each of a chunk every so often.
const (
	besideStreams = 20
	besideChunks  = 200
	besidePace    = 20 * time.Millisecond
	besideReaders = 5
)

// BenchmarkStreamsBesideThePage passes paced streams on, alone and while five
// readers look at the page, each anew every second with its live events open. What
// it tells is how late chunks were, from the upstream's write to the client's read.
func BenchmarkStreamsBesideThePage(b *testing.B) {
	upstream := httptest.NewServer(http.HandlerFunc(paced))
	defer upstream.Close()
	for _, readers := range []int{0, besideReaders} {
		b.Run(fmt.Sprintf("%d readers", readers), func(b *testing.B) {
			r := startProgram(b, "serve", "--upstream", upstream.URL)
			streamsOf(b, r.base) // so that there is something to look at
			ctx, stop := context.WithCancel(b.Context())
			var looking sync.WaitGroup
			for range readers {
				looking.Go(func() { lookAgain(ctx, r.base) })
				looking.Go(func() { drain(ctx, r.base+"/-/live") })
			}
			var late []time.Duration
			for b.Loop() {
				late = append(late, streamsOf(b, r.base)...)
			}
			stop()
			looking.Wait()
			slices.Sort(late)
			for _, q := range []float64{0.5, 0.99, 0.999} {
				b.ReportMetric(float64(late[int(q*float64(len(late)-1))])/1e6, fmt.Sprintf("p%v-ms", q*100))
			}
		})
	}
}

// paced streams chunks, each of which tells when it was written.
func paced(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for range besideChunks {
		select {
		case <-time.After(besidePace):
		case <-r.Context().Done():
			return
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%d\"}}]}\n\n", time.Now().UnixNano())
		_ = flush.Flush()
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// streamsOf are the delays of all chunks of a round of streams.
func streamsOf(b testing.TB, base string) (late []time.Duration) {
	b.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for range besideStreams {
		all.Go(func() {
			mine, err := oneStream(b.Context(), base)
			mu.Lock()
			defer mu.Unlock()
			if late = append(late, mine...); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	if len(late) != besideStreams*besideChunks {
		b.Fatalf("%d chunks came, want %d", len(late), besideStreams*besideChunks)
	}
	return late
}

func oneStream(ctx context.Context, base string) (late []time.Duration, err error) {
	body := strings.NewReader(`{"model":"paced","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", body)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		now := time.Now()
		if _, rest, ok := strings.Cut(lines.Text(), `"content":"`); ok {
			written, err := strconv.ParseInt(rest[:strings.IndexByte(rest, '"')], 10, 64)
			if err != nil {
				return nil, err
			}
			late = append(late, now.Sub(time.Unix(0, written)))
		}
	}
	return late, lines.Err()
}

// lookAgain reloads the page once a second.
func lookAgain(ctx context.Context, base string) {
	for ctx.Err() == nil {
		drain(ctx, base+"/-/")
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// drain reads what there is at an address until its end, or that of ctx.
func drain(ctx context.Context, url string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	if res, err := http.DefaultClient.Do(req); err == nil {
		defer res.Body.Close()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		}
	}
}
