//go:build unix

package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// load is requests of one kind, and how the upstream answers them.
type load struct {
	atOnce int
	prompt int // bytes
	chunks int // of the answer; 0 for one that is not streamed
}

func BenchmarkRequestStream(b *testing.B) { load{atOnce: 32, prompt: 1 << 10, chunks: 10}.pair(b) }
func BenchmarkRequestJSON(b *testing.B)   { load{atOnce: 32, prompt: 1 << 10}.pair(b) }
func BenchmarkBigPrompt(b *testing.B)     { load{atOnce: 8, prompt: 256 << 10, chunks: 20}.pair(b) }

// pair tells the processor time that a request takes through a Proxy whose rows are
// dropped, beside Go's own reverse proxy, in turns within one process. What client
// and upstream take, who are here too, is measured without a proxy and taken off.
// Each is the median of its turns, since other programs disturb some.
func (l load) pair(b *testing.B) {
	upstream := listen(b)
	go serveAll(upstream, l.answer)
	ways := [][]time.Duration{nil, nil, nil}
	const direct, bare, own = 0, 1, 2
	addresses := []string{upstream.Addr().String(), bareProxy(b, upstream), droppingProxy(b, upstream)}
	for range 3 { // warms up
		l.send(b, addresses[bare])
		l.send(b, addresses[own])
	}
	for b.Loop() {
		for way, address := range addresses {
			ways[way] = append(ways[way], l.send(b, address))
		}
	}
	cost := func(way int) float64 {
		return float64((median(ways[way]) - median(ways[direct])).Nanoseconds()) / 1e3 / requests
	}
	b.ReportMetric(cost(bare), "bare-us/req")
	b.ReportMetric(cost(own), "us/req")
	b.ReportMetric(cost(own)/cost(bare), "x-bare")
	b.ReportMetric(0, "ns/op")
}

func median(took []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)/2]
}

// bareProxy serves Go's reverse proxy, which records nothing.
func bareProxy(b *testing.B, upstream net.Listener) string {
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 2048}
	b.Cleanup(transport.CloseIdleConnections)
	rp := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: upstream.Addr().String()}) },
		FlushInterval: -1,
		Transport:     transport,
	}
	return serveHere(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // else an answer before the end of a body is cut now and then
		rp.ServeHTTP(w, r)
	}))
}

// droppingProxy serves a Proxy whose rows go nowhere.
func droppingProxy(b *testing.B, upstream net.Listener) string {
	u, err := proxy.ParseUpstream("http://" + upstream.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	stored := func() {}
	p, err := proxy.New(proxy.Config{
		Upstreams: []proxy.Upstream{u},
		Secret:    []byte("a secret of this install"),
		Record:    func(*exchange.Exchange) func() { return stored },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Wait(); p.Close() })
	return serveHere(b, p)
}

func serveHere(b *testing.B, h http.Handler) string {
	server := httptest.NewServer(h)
	b.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// answer writes an answer as a server does: the head, and then each chunk alone.
// The head comes a moment late, as it does from any model.
func (l load) answer(w io.Writer) error {
	time.Sleep(2 * time.Millisecond)
	if l.chunks == 0 {
		whole := `{"id":"c1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"word word word"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":3}}`
		_, err := fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(whole), whole)
		return err
	}
	_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
	for range l.chunks {
		if err == nil {
			err = writeChunk(w, `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"word"},"finish_reason":null}]}`+"\n\n")
		}
	}
	if err == nil {
		err = writeChunk(w, `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":10}}`+"\n\ndata: [DONE]\n\n")
	}
	if err == nil {
		_, err = io.WriteString(w, "0\r\n\r\n")
	}
	return err
}

func writeChunk(w io.Writer, text string) error {
	_, err := fmt.Fprintf(w, "%x\r\n%s\r\n", len(text), text)
	return err
}

// request is the request as bytes, so that to send it costs next to nothing.
func (l load) request() []byte {
	body := fmt.Sprintf(`{"model":"m","stream":%v,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"%s"}]}`,
		l.chunks > 0, strings.Repeat("word ", l.prompt/5))
	return fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: model.test\r\nContent-Type: application/json\r\n"+
		"User-Agent: bench/1.0\r\nAuthorization: Bearer sk-bench\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// requests is how many are sent in a turn.
const requests = 400

// send sends requests over connections of its own and returns the processor time
// that this process took meanwhile.
func (l load) send(b *testing.B, address string) time.Duration {
	b.Helper()
	next := make(chan struct{}, requests)
	for range requests {
		next <- struct{}{}
	}
	close(next)
	before := processorTime(b)
	var all sync.WaitGroup
	for range l.atOnce {
		all.Go(func() {
			if err := exchangeAll(address, l.request(), next); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	return processorTime(b) - before
}

// exchangeAll sends a request over one connection as often as next says.
func exchangeAll(address string, request []byte, next <-chan struct{}) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	r := bufio.NewReader(c)
	for range next {
		if _, err := c.Write(request); err != nil {
			return err
		}
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d: %w", res.StatusCode, err)
		}
	}
	return nil
}

func listen(b *testing.B) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l
}

// serveAll answers every request on every connection, with no server between.
func serveAll(l net.Listener, answer func(io.Writer) error) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			r := bufio.NewReader(c)
			for skipRequest(r) == nil && answer(c) == nil {
			}
		}()
	}
}

// skipRequest reads over a request, of which only its length counts.
func skipRequest(r *bufio.Reader) error {
	length := 0
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if _, err := fmt.Sscan(string(value), &length); err != nil {
				return err
			}
		}
		if len(line) == len("\r\n") {
			_, err := r.Discard(length)
			return err
		}
	}
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
