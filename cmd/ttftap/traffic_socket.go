package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/simulator"
	"github.com/ttftap/ttftap/proxy/websocket"
)

// converse sends all of a lane over one WebSocket, as Codex does: the prompt is
// prepared first, and what follows says only what is new. It returns how many
// requests it was.
func (l lane) converse(ctx context.Context, base string) (sent int64) {
	c, from, err := l.upgrade(ctx, base)
	if err != nil {
		return 0
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	last := ""
	for i, a := range l.asks {
		a.topic = l.session + ", " + a.topic
		message := a.message(last, i == 0)
		if _, err := c.Write(websocket.AppendMasked(nil, websocket.Text, [4]byte{1, 2, 3, 4}, message)); err != nil {
			return sent
		}
		if last = answered(from); last == "" {
			return sent
		}
		sent++
	}
	return sent
}

// upgrade opens the socket.
func (l lane) upgrade(ctx context.Context, base string) (net.Conn, io.Reader, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, nil, err
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ZGVtbyBvZiB0dGZ0YXAhIQ==\r\n"+
		"Authorization: Bearer demo-%s\r\nUser-Agent: %s\r\nSession-Id: %s\r\n\r\n", responses, u.Host, l.agent, l.agent, l.session)
	from := bufio.NewReader(c)
	res, err := http.ReadResponse(from, nil)
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		err = fmt.Errorf("the upgrade was answered %d", res.StatusCode)
	}
	if err != nil {
		c.Close()
	}
	return c, from, err
}

// message asks for a response that goes on from the last one.
func (a ask) message(last string, prewarm bool) []byte {
	b, err := json.Marshal(map[string]any{
		"type": "response.create", "model": a.model, "previous_response_id": last, "generate": !prewarm,
		"input":           []map[string]string{{"role": "user", "content": filler(a.topic, a.prompt)}},
		"client_metadata": map[string]string{simulator.OverrideHeader: a.simulate},
	})
	if err != nil { // it is made of strings
		panic(err)
	}
	return b
}

// answered reads up to the end of a response and returns its id, "" where it did
// not end well.
func answered(from io.Reader) (id string) {
	var reader websocket.Reader
	p := make([]byte, 4<<10)
	for over := false; !over; {
		n, err := from.Read(p)
		_ = reader.Write(time.Now(), p[:n], func(m websocket.Message) {
			switch kind := gjson.GetBytes(m.Data, "type").String(); kind {
			case "response.completed":
				id, over = strings.Clone(gjson.GetBytes(m.Data, "response.id").String()), true
			case "response.incomplete", "response.failed", "error":
				over = true
			}
		})
		over = over || err != nil
	}
	return id
}
