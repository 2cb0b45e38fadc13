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
	const size = 256 << 20
	for name, length := range map[string]int64{"of a length": size, "chunked": -1} {
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
		if x := w.row(); number(x.RequestBytes) != size {
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

// Half a request must not look whole to the upstream.
func TestAnUploadThatWasCutIsCutForTheUpstreamToo(t *testing.T) {
	const half = `{"model":"m1","stream":true,`
	ended := make(chan error, 1)
	upstream := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	})
	for name, w := range map[string]*world{"HTTP/1": onSockets(t, "/v1", upstream), "HTTP/2": overTLS(t, "example.com", true, upstream)} {
		for _, framing := range []string{
			"Content-Length: 1000\r\n\r\n" + half,
			fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(half), half),
		} {
			_, c := w.raw("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n" + framing)
			c.Close()
			x := w.row()
			if x.Outcome != exchange.ClientAbort || x.ModelRequested != "m1" || number(x.RequestBytes) != int64(len(half)) || x.Status != nil {
				t.Errorf("%s: outcome %s, model %q, %d bytes", name, x.Outcome, x.ModelRequested, number(x.RequestBytes))
			}
			select {
			case err := <-ended:
				if err == nil {
					t.Errorf("%s: the upstream took it for whole", name)
				}
			case <-time.After(soon):
				t.Errorf("%s: the upstream still waits", name)
			}
		}
	}
}
