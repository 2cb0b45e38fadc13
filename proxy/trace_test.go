package proxy_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// modelsTime is what the model takes in these tests.
const modelsTime = 200 * time.Millisecond

var answers = script(eventStream, step{modelsTime, chatText + chatFinish + chatUsage + chatDone})

// behindSlowDials is a world in a bubble whose upstream speaks TLS, and of HTTP
// one version or the other. To connect takes 300 ms.
func behindSlowDials(t *testing.T, server *http.Server, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		up, front := newPipes("upstream"), newPipes("proxy")
		w := &world{t: t, url: "http://proxy.test"}
		c := w.config([]string{"https://upstream.test/v1"})
		way := simulator.Network{Connect: 300 * time.Millisecond}
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			return way.Dial(up.dial)(ctx, network, address)
		}
		c.Transport = func(tr *http.Transport) { tr.TLSClientConfig = trusting.Clone() }
		var err error
		if w.proxy, err = proxy.New(c); err != nil {
			t.Fatal(err)
		}
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate()}}
		go server.ServeTLS(up, "", "")
		entry := serveOn(front, w.proxy)
		transport := &http.Transport{DialContext: front.dial, DisableCompression: true}
		w.client = &http.Client{Transport: transport}
		test(t, w)
		transport.CloseIdleConnections()
		w.proxy.Wait()
		w.proxy.Close()
		server.Close()
		entry.Close()
		time.Sleep(time.Minute) // the ends of connections are still on their way
	})
}

func speaking(http2 bool) *http.Server {
	s := &http.Server{Handler: answers, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(!http2)
	s.Protocols.SetHTTP2(http2)
	return s
}

// checkModelsTime fails the test where anything but the model's time is called
// its wait.
func checkModelsTime(t *testing.T, x exchange.Exchange) {
	t.Helper()
	if x.Wait == nil || *x.Wait != modelsTime {
		t.Errorf("wait %v, want %v; connection %v (reused %v), of that dns %v, connect %v, tls %v, pool %v",
			ms(x.Wait), modelsTime, ms(x.GotConn), *x.ConnReused, ms(x.DNS), ms(x.Connect), ms(x.TLS), ms(x.PoolWait))
	}
}

func TestWaitingForTheConnectionOfAnotherIsNoWaitForTheModel(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		behindSlowDials(t, speaking(http2), func(t *testing.T, w *world) {
			rows := make([]exchange.Exchange, 3)
			var group sync.WaitGroup
			for i := range rows {
				group.Go(func() { _, rows[i] = w.exchange("/v1/chat/completions", chatAsked) })
				time.Sleep(150 * time.Millisecond)
			}
			group.Wait()
			pooled := 0
			for _, x := range rows {
				checkModelsTime(t, x)
				if x.PoolWait != nil {
					pooled++
					if x.DNS != nil || x.Connect != nil || x.TLS != nil {
						t.Errorf("a dial of its own, too: %+v", x.Instants)
					}
				}
			}
			if pooled == 0 {
				t.Error("none waited for the connection of another")
			}
			if _, x := w.exchange("/v1/chat/completions", chatAsked); x.PoolWait != nil || *x.Network != 0 {
				t.Errorf("an idle connection took %v, its network %v", ms(x.PoolWait), ms(x.Network))
			}
		})
	}
}

func TestTheDialAfterADeadConnectionIsOfTheNetwork(t *testing.T) {
	server := speaking(false)
	server.IdleTimeout = time.Second // which is learned when it hangs up
	behindSlowDials(t, server, func(t *testing.T, w *world) {
		for _, pause := range []time.Duration{0, 2 * time.Second, 600 * time.Millisecond} {
			time.Sleep(pause)
			_, x := w.exchange("/v1/chat/completions", chatAsked)
			checkModelsTime(t, x)
			if ms(x.Connect) != 300 || *x.ConnReused {
				t.Errorf("after %v: connected in %v ms, reused %v", pause, ms(x.Connect), *x.ConnReused)
			}
		}
	})
}
