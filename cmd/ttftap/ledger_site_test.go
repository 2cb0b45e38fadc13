package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ttftap/ttftap/proxy/websocket"
)

// played is an upstream that does what it is told, request by request.
type played struct {
	mu    sync.Mutex
	plays map[string]*play
}

// play is what the upstream does for one request, or one WebSocket.
type play struct {
	orders chan order
	got    chan []byte // the request's body, or a message of a WebSocket
}

// order is one thing to do.
type order struct {
	status int    // of the head, which comes first; 0: 200
	kind   string // content type of it
	write  string // what is sent then
	end    last
}

// last says whether anything comes after an order.
type last int

const (
	goOn     last = iota
	complete      // the answer is
	cut           // the connection is closed
)

// playHeader names the play of a request.
const playHeader = "X-Play"

func (p *played) begin(name string) *play {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := &play{orders: make(chan order, 16), got: make(chan []byte, 16)}
	p.plays[name] = one
	return one
}

func (p *played) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	one := p.plays[r.Header.Get(playHeader)]
	p.mu.Unlock()
	if r.Header.Get("Upgrade") != "" {
		one.socket(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	one.got <- body
	one.answer(w, r)
}

func (p *play) answer(w http.ResponseWriter, r *http.Request) {
	begun := false
	for {
		select {
		case o := <-p.orders:
			if !begun && o.kind != "" {
				w.Header().Set("Content-Type", o.kind)
				w.WriteHeader(max(o.status, http.StatusOK))
				begun = true
			}
			io.WriteString(w, o.write)
			if o.write != "" {
				w.(http.Flusher).Flush()
			}
			switch o.end {
			case complete:
				return
			case cut:
				panic(http.ErrAbortHandler)
			}
		case <-r.Context().Done():
			return
		}
	}
}

// socket answers over a WebSocket: a message for each line of an order.
func (p *play) socket(w http.ResponseWriter, r *http.Request) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n\r\n", websocket.Accept(r.Header.Get("Sec-Websocket-Key")))
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = eachMessage(rw.Reader, func(m []byte) bool { p.got <- m; return true })
	}()
	for {
		select {
		case o := <-p.orders:
			for line := range strings.Lines(o.write) {
				conn.Write(websocket.Append(nil, websocket.Text, []byte(strings.TrimSpace(line))))
			}
			if o.end != goOn {
				return
			}
		case <-gone:
			return
		}
	}
}

// eachMessage reads text messages until there are no more, or nobody wants one.
func eachMessage(from *bufio.Reader, wants func([]byte) bool) (err error) {
	var reader websocket.Reader
	p, more := make([]byte, 4<<10), true
	for more && err == nil {
		var n int
		n, err = from.Read(p)
		if bad := reader.Write(time.Now(), p[:n], func(m websocket.Message) {
			if m.Opcode == websocket.Text {
				more = wants([]byte(string(m.Data))) && more
			}
		}); bad != nil {
			return bad
		}
	}
	return err
}

// The words of a chat's stream and of a response over a WebSocket.

func chunkSaying(text string) string {
	return `data: {"id":"c","choices":[{"index":0,"delta":{"content":` + asJSON(text) + `}}]}` + "\n\n"
}

func lastChunk(tokens int) string {
	return fmt.Sprintf("data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", tokens)
}

const failedChunk = `data: {"error":{"message":"overloaded","type":"server_error"}}` + "\n\n"

func responseBegins(id string) string {
	return `{"type":"response.created","response":{"id":"` + id + `"}}` + "\n" + `{"type":"response.output_text.delta","delta":"Hi"}` + "\n"
}

func responseEnds(id string, tokens int) string {
	return fmt.Sprintf(`{"type":"response.completed","response":{"id":%q,"status":"completed","usage":{"input_tokens":3,"output_tokens":%d,"total_tokens":9}}}`+"\n", id, tokens)
}

// payload is how many bytes the messages of an order have.
func payload(order string) (n int64) {
	for line := range strings.Lines(order) {
		n += int64(len(strings.TrimSpace(line)))
	}
	return n
}
