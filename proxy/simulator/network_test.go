package simulator

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// far is a network far away: 40 ms to connect, 100 ms there and back, 10 bytes a
// millisecond.
var far = Network{Connect: 40 * ms, RoundTrip: 100 * ms, Upload: 10_000}

// across runs a test with a client behind a network. The server echoes what it is
// sent, piece by piece, and ends when it reads an end.
func across(t *testing.T, n Network, run func(t *testing.T, dial Dialer)) {
	synctest.Test(t, func(t *testing.T) {
		listener := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				go func() {
					io.Copy(c, c)
					c.Close()
				}()
			}
		}()
		run(t, n.Dial(listener.dial))
		listener.Close()
		time.Sleep(n.RoundTrip) // the ends are still on their way
	})
}

func TestConnectingTakesARoundTripAndSaysSo(t *testing.T) {
	across(t, far, func(t *testing.T, dial Dialer) {
		start := time.Now()
		var told []time.Duration
		ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
			ConnectStart: func(_, _ string) { told = append(told, time.Since(start)) },
			ConnectDone: func(_, _ string, err error) {
				if err == nil {
					told = append(told, time.Since(start))
				}
			},
		})
		c, err := dial(ctx, "tcp", "server:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if diff := cmp.Diff([]time.Duration{0, 140 * ms}, told); diff != "" {
			t.Error(diff)
		}
	})
}

func TestBytesTakeTheirTimeToLeaveAndHalfARoundTripEachWay(t *testing.T) {
	across(t, far, func(t *testing.T, dial Dialer) {
		c, err := dial(context.Background(), "tcp", "server:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		start := time.Now()
		for i, n := range []int{500, 100} {
			if _, err := io.WriteString(c, strings.Repeat("x", n)); err != nil {
				t.Fatal(err)
			}
			equal(t, "written", time.Since(start), []time.Duration{50 * ms, 60 * ms}[i])
		}
		for i, n := range []int{500, 100} {
			if _, err := io.ReadFull(c, make([]byte, n)); err != nil {
				t.Fatal(err)
			}
			equal(t, "echo", time.Since(start), []time.Duration{150 * ms, 160 * ms}[i])
		}
	})
}

func TestEitherEndHearsOfTheEndHalfARoundTripLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, nearFirst := range []bool{true, false} {
			server, behind := net.Pipe()
			near := far.link(behind)
			closing, hearing := near, server
			if !nearFirst {
				closing, hearing = server, near
			}
			start := time.Now()
			closing.Close()
			if _, err := hearing.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("read %v", err)
			}
			equal(t, "end", time.Since(start), 50*ms)
			hearing.Close()
			time.Sleep(far.RoundTrip)
		}
	})
}

func TestClosingInterruptsAWrite(t *testing.T) {
	across(t, Network{Upload: 1}, func(t *testing.T, dial Dialer) {
		c, err := dial(context.Background(), "tcp", "server:80")
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(3*time.Second, func() { c.Close() })
		start := time.Now()
		if _, err := c.Write(make([]byte, 600)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("written, error %v", err)
		}
		equal(t, "interruption", time.Since(start), 3*time.Second)
	})
}

func TestDialGivesUpWithItsContext(t *testing.T) {
	across(t, far, func(t *testing.T, dial Dialer) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*ms)
		defer cancel()
		start := time.Now()
		if _, err := dial(ctx, "tcp", "server:80"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		equal(t, "end", time.Since(start), 30*ms)
	})
}

func TestNetworkDelaysRealSocketsToo(t *testing.T) {
	server := httptest.NewServer(New(one(Behaviour{Output: 3})))
	defer server.Close()
	transport := &http.Transport{DialContext: Network{Connect: 5 * ms, RoundTrip: 10 * ms, Upload: 100_000}.Dial(new(net.Dialer).DialContext)}
	defer transport.CloseIdleConnections()
	start := time.Now()
	res, err := (&http.Client{Transport: transport}).Post(server.URL+"/v1/responses", "application/json", strings.NewReader(`{"model":"m","input":"hello"}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || !strings.Contains(string(body), `"status":"completed"`) {
		t.Errorf("body %q, error %v", body, err)
	}
	if took := time.Since(start); took < 25*ms {
		t.Errorf("it took %v, want 5 + 10 to connect and 10 there and back", took)
	}
}
