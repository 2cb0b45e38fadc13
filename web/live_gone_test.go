package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// oneCall is a listener that accepts one connection.
type oneCall struct{ conns chan net.Conn }

func (o oneCall) Accept() (net.Conn, error) {
	if c, ok := <-o.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (o oneCall) Close() error   { return nil }
func (o oneCall) Addr() net.Addr { return &net.IPAddr{} }

// TestWhoIsGoneWithoutAWordIsGivenUp has a browser that asks and then reads
// nothing, over a connection that holds nothing for it.
func TestWhoIsGoneWithoutAWordIsGivenUp(t *testing.T) {
	for name, test := range map[string]struct {
		stops bool // the server stops, too
		after time.Duration
	}{
		"while the server goes on": {false, writeWithin},
		"while it stops":           {true, leaveWithin},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				serving, stop := context.WithCancel(context.Background())
				defer stop()
				c := newConfig(t)
				c.Serving = serving
				near, far := net.Pipe()
				calls := oneCall{make(chan net.Conn, 1)}
				calls.conns <- far
				ended := make(chan struct{})
				page := New(c)
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer close(ended)
					page.ServeHTTP(w, r)
				})}
				go server.Serve(calls)
				if _, err := io.WriteString(near, "GET /-/live HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				begun := time.Now()
				if test.stops {
					stop()
				}
				<-ended
				if took := time.Since(begun); took != test.after {
					t.Errorf("it is given up after %s, want %s", took, test.after)
				}
				near.Close()
				close(calls.conns)
				server.Close()
				turns(2)
			})
		})
	}
}
