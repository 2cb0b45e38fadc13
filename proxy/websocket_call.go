package proxy

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http/httptrace"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/websocket"
)

// call is an exchange over a socket: a response.create and its answer.
type call struct {
	*flight
	lane string
}

// said takes a message of the client, which was complete at some time, and returns
// the call that it begins, nil for none. What is too long to be kept, and does not
// say at its beginning what it is, can hardly be anything else.
func (s *socket) said(at time.Time, m websocket.Message) *call {
	if m.Opcode.IsControl() {
		s.closing(clientEnds, m, at)
		return nil
	}
	e := dialect.ReadEnvelope(m.Data)
	if e.Type != dialect.Create && !(m.Cut && e.Type == "") {
		return nil
	}
	c := &call{flight: s.newFlight(at, m), lane: e.Lane}
	if c.before == nil {
		c.before = s.judged
	}
	s.used = true
	s.calls, s.unheard = append(s.calls, c), append(s.unheard, c)
	payload := slices.Clone(m.Data)
	c.reading.Go(func() { c.readMessage(payload) }) // beside the sending, not before it
	return c
}

// newFlight begins an exchange with the first byte of its message. The connection
// has been there all along.
func (s *socket) newFlight(at time.Time, m websocket.Message) *flight {
	u := s.upgrade
	p := u.proxy
	f := &flight{
		proxy: p, upstream: u.upstream, target: u.target, start: m.Began, client: u.client, request: u.request,
		upload:  &upload{size: m.Size, err: io.EOF},
		trail:   trail{conn: u.trail.conn},
		carrier: s, named: make(chan struct{}),
	}
	f.x = exchange.Exchange{
		ID: ulid.Make().String(), StartedAt: m.Began, Outcome: exchange.Open,
		Upstream: u.x.Upstream, KeyID: u.x.KeyID, Client: u.x.Client, SessionID: u.x.SessionID,
		Method: u.x.Method, Path: u.x.Path, Dialect: u.x.Dialect, Transport: u.x.Transport, Status: u.x.Status,
		RequestID: u.x.RequestID, GatewayRequestID: u.x.GatewayRequestID, Note: u.x.Note,
	}
	f.x.ConnReused, f.x.GotConn, f.x.Received = new(true), new(time.Duration(0)), new(at.Sub(m.Began))
	f.x.RTT = p.dialer.roundTrip(u.upstream.URL.Host, f.trail.conn)
	f.tap = &tap{flight: f, reading: newReading(f.x.Dialect, "", p.config.Log)}
	f.tap.reading.form = frames
	p.flights.Add(1)
	f.before = p.crowd.enter(&f.x)
	f.x.Proxy = new(time.Since(at))
	p.aloft.enter(f) // from here on others look at it
	return f
}

// sent notes that the message has been handed to the kernel.
func (c *call) sent() { c.wroteRequest(httptrace.WroteRequestInfo{}) }

// readMessage takes the facts of the message, as of a request's body.
func (f *flight) readMessage(payload []byte) {
	var req dialect.Request
	var turn codexTurn
	var tail []byte
	head := payload
	note := guarded(f.proxy.config.Log, func() string {
		head, tail = lastItem(f.x.Dialect, payload)
		req = dialect.ReadRequest(f.x.Dialect, payload)
		_ = json.Unmarshal([]byte(req.Turn), &turn) // what is no JSON says nothing
		if !dialect.IsJSON(payload) {
			return "the message is no JSON, or too long"
		}
		return ""
	})
	f.locked(func() {
		f.x.TurnID, f.x.RequestKind = clip(turn.TurnID), clip(turn.RequestKind)
		if req.Generate != nil && !*req.Generate {
			f.x.MarkPrewarm()
		}
	})
	f.told(req, payload, f.proxy.mark(&f.x, head, tail), note)
}

// lastItem is what a message asks for that no other does, by which its repetition
// is known: over another socket it is sent with all that came before, and each
// time with the time.
func lastItem(d exchange.Dialect, payload []byte) (head, tail []byte) {
	_, items := dialect.Sections(d, payload)
	if len(items) == 0 {
		return payload, nil
	}
	return items[len(items)-1].Text(payload)
}

// answered takes a message of the upstream.
func (s *socket) answered(m websocket.Message) {
	at := s.chunk.at
	if m.Opcode.IsControl() {
		s.closing(upstreamEnds, m, at)
		return
	}
	e := dialect.ReadEnvelope(m.Data)
	c := s.addressee(e)
	if c == nil {
		return
	}
	c.begins(m)
	c.tap.size += m.Size
	if c.tap.reading.frame(at.Sub(c.start), e.Type, m) {
		c.tap.err = io.EOF
		s.land(c, ending{at: new(at.Sub(c.start))})
	}
}

// begins notes the first of the answer, up to which the upload counts at most.
func (c *call) begins(m websocket.Message) {
	c.locked(func() {
		if c.x.FirstByte == nil {
			c.x.FirstByte = new(max(0, m.Began.Sub(c.start)))
			c.x.Sent = cmp.Or(c.x.Sent, c.x.FirstByte)
		}
		if m.Cut {
			c.addNote("an event was too long to be read")
		}
	})
}

// addressee is the call that an event is of, nil for none. A lane is answered in
// turn, so that it is the oldest one, unless the event names the response of
// another. An upstream that does not tell lanes apart has but one.
func (s *socket) addressee(e dialect.Envelope) *call {
	if e.ResponseID != "" && e.ResponseID == s.past {
		return nil
	}
	inLane := func(c *call) bool { return c.lane == e.Lane }
	anyLane := e.Lane == "" && !slices.ContainsFunc(s.calls, inLane)
	var oldest, unnamed *call
	for _, c := range s.calls {
		if !anyLane && !inLane(c) {
			continue
		}
		switch id := c.tap.answer().ResponseID; {
		case id == e.ResponseID && id != "":
			return c
		case id == "" && unnamed == nil:
			unnamed = c
		}
		if oldest == nil {
			oldest = c
		}
	}
	if e.ResponseID != "" {
		return unnamed
	}
	return oldest
}

// frame takes an event, and says whether the answer is complete with it. Of one
// that was too long to be kept, its type says as much.
func (r *reading) frame(at time.Duration, event string, m websocket.Message) (over bool) {
	if !m.Cut {
		event = ""
	}
	e := r.reader.Message(event, m.Data)
	r.meter.Event(at, e)
	return e.Terminal
}
