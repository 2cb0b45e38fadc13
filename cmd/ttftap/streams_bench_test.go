//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Many slow streams: so many at once, each of a chunk every so often.
const (
	manyStreams = 10_000
	slowPace    = 2 * time.Second
	slowChunks  = 25
	slowRamp    = 20 * time.Second // over which they begin
)

// BenchmarkManyStreams holds thousands of slow streams open at once and tells what
// memory the program takes for each, and what part of a core. Every stream must come
// to its end. It takes over a minute: ask for one round.
func BenchmarkManyStreams(b *testing.B) {
	streams := streamsAllowed(b)
	buildPrograms(b)
	upstream := must(net.Listen("tcp", "127.0.0.1:0"))
	defer upstream.Close()
	go serveSlowly(upstream)
	for b.Loop() {
		c := startChild(b, "http://"+upstream.Addr().String(), filepath.Join(b.TempDir(), "x.db"))
		idle, began := c.memory(b, "VmRSS"), time.Now()
		c.forgetPeak(b)
		var whole atomic.Int64
		var all sync.WaitGroup
		for i := range streams {
			all.Go(func() {
				<-time.After(time.Until(began.Add(slowRamp * time.Duration(i) / time.Duration(streams))))
				if err := slowStream(strings.TrimPrefix(c.base, "http://")); err != nil {
					b.Error(err)
					return
				}
				whole.Add(1)
			})
		}
		<-time.After(slowRamp + slowPace)
		held, before := c.memory(b, "VmRSS"), c.processorTime(b)
		<-time.After(2 * slowPace)
		core := float64(c.processorTime(b)-before) / float64(2*slowPace)
		all.Wait()
		b.ReportMetric(float64(whole.Load()), "streams")
		b.ReportMetric(float64(held-idle)/float64(streams)/(1<<10), "KiB/stream")
		b.ReportMetric(float64(c.memory(b, "VmHWM")-idle)/float64(streams)/(1<<10), "KiB/stream-at-most")
		b.ReportMetric(100*core, "%core")
		b.ReportMetric(0, "ns/op")
	}
}

// streamsAllowed is how many streams there can be: each takes two open files of the
// program, and two of this one. Go raises the limit as far as it may go.
func streamsAllowed(b *testing.B) int {
	b.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		b.Fatal(err)
	}
	const others = 200
	return min(manyStreams, (int(limit.Max)-others)/2)
}

// serveSlowly answers one request on each connection, in pieces.
func serveSlowly(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			if _, err := http.ReadRequest(bufio.NewReaderSize(c, 1<<10)); err != nil {
				return
			}
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
			for range slowChunks {
				if err == nil {
					<-time.After(slowPace)
					_, err = fmt.Fprintf(c, "%x\r\n%s\r\n", len(chunkEvent), chunkEvent)
				}
			}
			if err == nil {
				last := lastEvent + "data: [DONE]\n\n"
				_, _ = fmt.Fprintf(c, "%x\r\n%s\r\n0\r\n\r\n", len(last), last)
			}
		}()
	}
}

// slowStream asks for a stream and reads it to its end.
func slowStream(address string) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	body := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]}`
	if _, err := fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: model.test\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(c, 1<<10), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	if want := slowChunks*len(chunkEvent) + len(lastEvent) + len("data: [DONE]\n\n"); err == nil && n != int64(want) {
		return fmt.Errorf("%d bytes came, want %d", n, want)
	}
	return err
}
