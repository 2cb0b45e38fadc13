package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// demand is so many requests, some at once, each of a prompt and an answer.
type demand struct {
	requests, atOnce int
	prompt           int // bytes
	chunks           int // of the answer; 0 for one that is not streamed
	pace             time.Duration
	ramp             time.Duration // over which the first ones begin
}

// thinking is how long every answer takes to begin: none of a model comes at once.
const thinking = 2 * time.Millisecond

// ServeHTTP answers as a model would.
func (c demand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-time.After(thinking)
	if c.chunks == 0 {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":100}}`, strings.Repeat("word ", 50))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	start := time.Now()
	for i := range c.chunks {
		if c.pace > 0 {
			<-time.After(time.Until(start.Add(time.Duration(i) * c.pace)))
		}
		_, _ = io.WriteString(w, chunkEvent)
		_ = flush.Flush()
	}
	_, _ = io.WriteString(w, lastEvent+"data: [DONE]\n\n")
}

// chunkEvent is a chunk as servers send it, with 64 bytes of text.
const chunkEvent = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":"the quick brown fox jumps over a lazy dog and then it is away. "},"finish_reason":null}]}` + "\n\n"

// send sends requests and returns the median time from one to its first token.
func (c demand) send(b *testing.B, base string, requests int) time.Duration {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: c.atOnce, DisableCompression: true, ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10}}
	defer client.CloseIdleConnections()
	body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":%q}]}`, c.chunks > 0, strings.Repeat("x", c.prompt))
	next := make(chan int, requests)
	for i := range requests {
		next <- i
	}
	close(next)
	took := make([]time.Duration, requests)
	var all sync.WaitGroup
	for worker := range c.atOnce {
		all.Go(func() {
			<-time.After(c.ramp * time.Duration(worker) / time.Duration(c.atOnce))
			for i := range next {
				var err error
				if took[i], err = firstToken(client, base+"/v1/chat/completions", body); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return took[len(took)/2]
}

// firstToken sends a request, reads its answer and returns when that began.
func firstToken(client *http.Client, url, body string) (time.Duration, error) {
	start := time.Now()
	res, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var one [1]byte
	if _, err := io.ReadFull(res.Body, one[:]); err != nil {
		return 0, err
	}
	took := time.Since(start)
	_, err = io.Copy(io.Discard, res.Body)
	return took, err
}

// startBare starts the program in testdata/bare, which prints its address.
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

// buildPrograms puts the programs that are measured before all others: each as it is
// for itself, since the test's own binary would stand for both.
func buildPrograms(b *testing.B) {
	b.Helper()
	folder := b.TempDir()
	for name, source := range map[string]string{"ttftap": ".", "bare": "./testdata/bare"} {
		build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(folder, name), source)
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	b.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}
