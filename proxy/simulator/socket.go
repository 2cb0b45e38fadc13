package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/websocket"
)

// socket is a WebSocket of the Responses API. Each response.create is a flight as
// over HTTP, in turn, an event a message. It may go on from the last response.
type socket struct {
	server  *Server
	request *http.Request
	conn    net.Conn
	asks    chan []byte

	writing sync.Mutex

	last  string            // id of the last response; "" if it failed
	items []json.RawMessage // of the conversation up to and with it
}

// waiting is how many messages may wait for their turn.
const waiting = 16

// openSocket takes an upgrade and serves the socket to its end.
func (s *Server) openSocket(w http.ResponseWriter, r *http.Request) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		(&fault{status: http.StatusUpgradeRequired, message: "no WebSocket over this connection"}).write(w, exchange.Responses)
		return
	}
	defer conn.Close() // and thereby the listening
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	o := &socket{server: s, request: r.WithContext(ctx), conn: conn, asks: make(chan []byte, waiting)}
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Request-Id: %s\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		w.Header().Get("X-Request-Id"), websocket.Accept(r.Header.Get("Sec-WebSocket-Key")))
	go o.listen(rw, cancel)
	for ask := range o.asks {
		o.answer(ask)
	}
}

// listen takes what the client says until it has no more to say.
func (o *socket) listen(from io.Reader, leave func()) {
	defer close(o.asks)
	defer leave()
	var reader websocket.Reader
	p := make([]byte, 4<<10)
	for open := true; open; {
		n, err := from.Read(p)
		failed := reader.Write(time.Now(), p[:n], func(m websocket.Message) {
			open = open && o.hear(m)
		})
		open = open && err == nil && failed == nil
	}
}

// hear takes a message, and says whether another may come.
func (o *socket) hear(m websocket.Message) (more bool) {
	switch m.Opcode {
	case websocket.Ping:
		_ = o.say(websocket.Pong, m.Data)
	case websocket.Close:
		_ = o.say(websocket.Close, m.Data)
		return false
	case websocket.Text:
		if gjson.GetBytes(m.Data, "type").String() != "response.create" {
			break
		}
		select {
		case o.asks <- bytes.Clone(m.Data):
		default:
			return false // nobody asks so much at once
		}
	}
	return true
}

func (o *socket) say(op websocket.Opcode, payload []byte) error {
	o.writing.Lock()
	defer o.writing.Unlock()
	_, err := o.conn.Write(websocket.Append(nil, op, payload))
	return err
}

// answer answers one response.create.
func (o *socket) answer(ask []byte) {
	w := &spoken{header: http.Header{}, say: o.say}
	body, items, err := o.whole(ask)
	if refused, ok := errors.AsType[*fault](err); ok {
		refused.write(w, exchange.Responses)
		return
	}
	r := o.request.Clone(o.request.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	if simulate := gjson.GetBytes(ask, "client_metadata."+OverrideHeader); simulate.Exists() {
		r.Header.Add(OverrideHeader, simulate.String())
	}
	f := o.server.newFlight(w, r, exchange.Responses, o.server.nextID())
	o.server.answer(f)
	if o.last = ""; f.truth.Outcome == exchange.OK || f.truth.Outcome == exchange.Incomplete {
		o.last, o.items = f.truth.ResponseID, items
		for _, it := range f.reply.plan.shown() {
			o.items = append(o.items, encode(outputItem(it, true)))
		}
	}
}

// whole is a request's body with the conversation that it goes on from, and the
// items of that.
func (o *socket) whole(ask []byte) (body []byte, items []json.RawMessage, err error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(ask, &keys); err != nil {
		return nil, nil, badRequest("the message is not JSON: " + err.Error())
	}
	input := gjson.GetBytes(ask, "input")
	if previous := gjson.GetBytes(ask, "previous_response_id").String(); previous != "" {
		if previous != o.last {
			return nil, nil, &fault{status: http.StatusBadRequest, message: "there is no response " + previous, code: "previous_response_not_found"}
		}
		items = append(items, o.items...)
	}
	if input.Type == gjson.String {
		items = append(items, encode(object{"type": "message", "role": "user", "content": input.String()}))
	}
	for _, item := range input.Array() {
		if item.IsObject() {
			items = append(items, json.RawMessage(item.Raw))
		}
	}
	all := object{}
	for key, v := range keys {
		all[key] = v
	}
	all["stream"] = true
	if input.Exists() {
		all["input"] = items
	}
	return encode(all), items, nil
}

// spoken words what a flight writes as messages of a socket.
type spoken struct {
	header http.Header
	status int
	held   []byte // the beginning of an event
	say    func(websocket.Opcode, []byte) error
}

// Header is what would be the head of an answer over HTTP.
func (w *spoken) Header() http.Header { return w.header }

// WriteHeader takes the status: a refusal is an event of its own.
func (w *spoken) WriteHeader(status int) { w.status = status }

// Write takes events as they are streamed over HTTP, or the body of a refusal.
func (w *spoken) Write(p []byte) (int, error) {
	if w.status >= http.StatusBadRequest {
		return len(p), w.say(websocket.Text, w.refusal(p))
	}
	w.held = append(w.held, p...)
	for {
		event, rest, whole := bytes.Cut(w.held, []byte("\n\n"))
		if !whole {
			return len(p), nil
		}
		op, payload := websocket.Ping, []byte(nil) // for a comment
		if _, data, ok := bytes.Cut(event, []byte("data: ")); ok {
			op, payload = websocket.Text, data
		}
		if err := w.say(op, payload); err != nil {
			return 0, err
		}
		w.held = rest
	}
}

func (w *spoken) refusal(body []byte) []byte {
	o := object{"type": "error", "status": w.status, "error": json.RawMessage(gjson.GetBytes(body, "error").Raw)}
	if after := w.header.Get("Retry-After"); after != "" {
		o["headers"] = object{"retry-after": after}
	}
	return encode(o)
}
