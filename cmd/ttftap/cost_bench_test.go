package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// costly is traffic whose cost is measured: so many requests, some at once, each of
// a prompt and an answer.
type costly struct {
	name             string
	requests, atOnce int
	prompt           int // bytes
	chunks           int // of the answer; 0 for one that is not streamed
	pace             time.Duration
	perChunk         bool // the cost is told for a chunk, not for a request
}

var costs = []costly{
	{name: "request of 10 chunks", requests: 4000, atOnce: 32, prompt: 1 << 10, chunks: 10},
	{name: "request in JSON", requests: 4000, atOnce: 32, prompt: 1 << 10},
	{name: "request of 256 KiB", requests: 1000, atOnce: 8, prompt: 256 << 10, chunks: 20},
	{name: "chunk in bulk", requests: 320, atOnce: 32, prompt: 1 << 10, chunks: 500, perChunk: true},
	{name: "paced chunk", requests: 400, atOnce: 200, prompt: 1 << 10, chunks: 200, pace: 20 * time.Millisecond, perChunk: true},
}

// BenchmarkCost tells what the proxy costs beside Go's own reverse proxy, which
// records nothing: the processor time of each as a program of its own, in turns.
// The bare one stands for the floor of what a proxy in Go takes.
func BenchmarkCost(b *testing.B) {
	for _, c := range costs {
		b.Run(c.name, func(b *testing.B) {
			upstream := httptest.NewServer(c)
			defer upstream.Close()
			var bare, own time.Duration
			for b.Loop() {
				bare += c.of(b, startBare(b, upstream.URL))
				own += c.of(b, startChild(b, upstream.URL, filepath.Join(b.TempDir(), "x.db")))
			}
			units := float64(b.N * c.requests)
			if c.perChunk {
				units *= float64(c.chunks)
			}
			b.ReportMetric(float64(bare.Microseconds())/units, "bare-us")
			b.ReportMetric(float64(own.Microseconds())/units, "us")
			b.ReportMetric(float64(own)/float64(bare), "x-bare")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// ServeHTTP answers as a model would.
func (c costly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if c.chunks == 0 {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":100}}`, strings.Repeat("word ", 100))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for range c.chunks {
		<-time.After(c.pace)
		_, _ = io.WriteString(w, textEvent)
		_ = flush.Flush()
	}
	_, _ = io.WriteString(w, lastEvent+"data: [DONE]\n\n")
}

// of is the processor time that a program takes for the traffic, after some of it
// to warm up.
func (c costly) of(b *testing.B, program *child) time.Duration {
	b.Helper()
	c.send(b, program.base, c.requests/10)
	before := program.processorTime(b)
	c.send(b, program.base, c.requests)
	took := program.processorTime(b) - before
	_ = program.Process.Kill()
	return took
}

func (c costly) send(b *testing.B, base string, requests int) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: c.atOnce, DisableCompression: true}}
	body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":%q}]}`, c.chunks > 0, strings.Repeat("x", c.prompt))
	next := make(chan struct{})
	var all sync.WaitGroup
	for range c.atOnce {
		all.Go(func() {
			for range next {
				res, err := client.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(body))
				if err != nil {
					b.Error(err)
					continue
				}
				read(res)
			}
		})
	}
	for range requests {
		next <- struct{}{}
	}
	close(next)
	all.Wait()
	client.CloseIdleConnections()
}

// startBare starts the program that bareProxy is.
func startBare(b *testing.B, upstream string) *child {
	b.Helper()
	c := &child{Cmd: exec.Command("bare", upstream)}
	out := must(c.StdoutPipe())
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Process.Kill(); c.Wait() })
	c.base = strings.TrimSpace(must(bufio.NewReader(out).ReadString('\n')))
	return c
}

// bareProxy is Go's reverse proxy to the first argument. It prints its address.
func bareProxy() {
	upstream := must(url.Parse(os.Args[1]))
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy, transport.DisableCompression, transport.MaxIdleConns, transport.MaxIdleConnsPerHost = nil, true, 0, 2048
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) }, FlushInterval: -1, Transport: transport}
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Printf("http://%s\n", l.Addr())
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // else an answer before the end of a body is cut now and then
		proxy.ServeHTTP(w, r)
	}))
}
