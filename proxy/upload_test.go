package proxy_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestHugeUploadStreamsThroughConstantMemory(t *testing.T) {
	size := 256 << 20
	if raceEnabled {
		size = 96 << 20 // still more than may be held
	}
	for name, length := range map[string]int64{"of a length": int64(size), "chunked": -1} {
		first, sum, told := make(chan bool, 1), make(chan [32]byte, 1), make(chan int64, 1)
		upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			told <- r.ContentLength
			h := sha256.New()
			io.CopyN(h, r.Body, 1)
			first <- true
			io.Copy(h, r.Body)
			sum <- [32]byte(h.Sum(nil))
		})
		w := onSockets(t, "/v1", upstream)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		body, sent := endless(size, first)
		r, _ := http.NewRequest("POST", w.url+"/v1/audio/transcriptions", body)
		r.ContentLength = length
		res, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		runtime.ReadMemStats(&after)
		if got := <-sum; got != <-sent || <-told != length {
			t.Errorf("%s: the upload was altered", name)
		}
		if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 64<<20 {
			t.Errorf("%s: the heap grew by %d MiB", name, grown>>20)
		}
		if x := w.row(); number(x.RequestBytes) != int64(size) {
			t.Errorf("%s: %d bytes", name, number(x.RequestBytes))
		}
	}
}

// endless is a body of that size, and its sum. All but its beginning is sent once
// the other side has that.
func endless(size int, begun <-chan bool) (io.Reader, <-chan [32]byte) {
	pr, pw := io.Pipe()
	sum := make(chan [32]byte, 1)
	chunk := bytes.Repeat([]byte("multipart audio "), 1<<12)
	go func() {
		h := sha256.New()
		for sent := 0; sent < size; sent += len(chunk) {
			pw.Write(chunk)
			h.Write(chunk)
			if sent == 0 {
				<-begun
			}
		}
		sum <- [32]byte(h.Sum(nil))
		pw.Close()
	}()
	return pr, sum
}

// Each piece goes on as it comes, and half a request must not look whole.
func TestAnUploadGoesOnAsItComesAndIsCutWhereItIsCut(t *testing.T) {
	pieces := []string{`{"model":"m1",`, `"stream":true,`}
	came, ended := make(chan string, 1), make(chan error, 1)
	upstream := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for _, p := range pieces {
			got := make([]byte, len(p))
			io.ReadFull(r.Body, got)
			came <- string(got)
		}
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	})
	for name, w := range map[string]*world{"HTTP/1": onSockets(t, "/v1", upstream), "HTTP/2": overTLS(t, "example.com", true, upstream)} {
		for head, framing := range map[string]string{"Content-Length: 1000": "%[2]s", "Transfer-Encoding: chunked": "%x\r\n%s\r\n"} {
			_, c := w.raw("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n" + head + "\r\n\r\n")
			for _, p := range pieces {
				fmt.Fprintf(c, framing, len(p), p)
				if got := within(t, came); got != p {
					t.Errorf("%s, %s: the upstream got %q", name, head, got)
				}
			}
			c.Close()
			if err := within(t, ended); err == nil {
				t.Errorf("%s, %s: the upstream took it for whole", name, head)
			}
			x := w.row()
			if x.Outcome != exchange.ClientAbort || x.ModelRequested != "m1" || number(x.RequestBytes) != int64(len(pieces[0]+pieces[1])) || x.Status != nil {
				t.Errorf("%s, %s: outcome %s, model %q, %d bytes", name, head, x.Outcome, x.ModelRequested, number(x.RequestBytes))
			}
		}
	}
}

// within is what comes soon.
func within[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(soon):
		t.Fatal("it did not come")
		panic("unreachable")
	}
}
