package sse

import "bytes"

// Splitter cuts server-sent events out of a stream, by the rules of the WHATWG
// HTML standard, section "Server-sent events". It differs in two: a message
// whose data lines are all empty is one, and a last message without its blank
// line is forgiven. Fields other than event and data are passed over.
//
// However the stream is cut into writes, the messages are the same. A splitter
// holds at most about twice its limit. Its zero value is ready for use.
type Splitter struct {
	Limit int // bytes of data kept of one message; DefaultLimit if 0

	lines lines
	names names
	name  string
	data  []byte // the data lines so far, joined: a view of a write, of lines, or of own
	own   []byte
	some  bool // a data line has come
	cut   bool
}

// slack is room for what stands before the data in a line, and for the longest
// name. With it, what is dropped of a line is dropped of the message too.
const slack = maxName + 32

// Write takes the next bytes of the stream and emits each message that they
// complete. The data of a message that lies wholly inside p is a slice of p.
func (s *Splitter) Write(p []byte, emit func(Message)) {
	s.lines.max = s.limit() + slack
	rest := s.lines.each(p, func(line []byte) { s.line(line, emit) })
	s.hold()
	s.lines.carry(rest)
}

// Close ends the stream: a begun message is emitted. The splitter is then as
// new.
func (s *Splitter) Close(emit func(Message)) {
	if line := s.lines.last(); line != nil {
		s.line(line, emit)
	}
	s.dispatch(emit)
	*s = Splitter{Limit: s.Limit}
}

func (s *Splitter) limit() int {
	if s.Limit <= 0 {
		return DefaultLimit
	}
	return s.Limit
}

// line takes one line without its end. Whatever stands before the first colon
// is the field, so a comment is a field without a name.
func (s *Splitter) line(line []byte, emit func(Message)) {
	if len(line) == 0 {
		s.dispatch(emit)
		return
	}
	field, value, _ := bytes.Cut(line, colon)
	value = bytes.TrimPrefix(value, blank)
	switch string(field) {
	case "data":
		s.add(value)
	case "event":
		s.name = s.names.of(value)
	}
}

// add joins one more data line to the message.
func (s *Splitter) add(value []byte) {
	if !s.some {
		s.some = true
		s.data = s.fit(value, 0)
		return
	}
	s.hold()
	s.own = append(s.own, s.fit(lf, len(s.own))...)
	s.own = append(s.own, s.fit(value, len(s.own))...)
	s.data = s.own
}

// fit is as much of b as the limit leaves room for after n bytes.
func (s *Splitter) fit(b []byte, n int) []byte {
	room := s.limit() - n
	if len(b) <= room {
		return b
	}
	s.cut = true
	return b[:room]
}

// hold moves what the message has so far to memory of its own.
func (s *Splitter) hold() {
	if s.some && len(s.own) == 0 {
		s.own = append(s.own, s.data...)
		s.data = s.own
	}
}

// dispatch ends a message; one without a data line is none.
func (s *Splitter) dispatch(emit func(Message)) {
	if s.some {
		emit(Message{Name: s.name, Data: s.data, Cut: s.cut})
	}
	s.name, s.data, s.some, s.cut = "", nil, false, false
	s.own = reuse(s.own)
}

// names keeps the few event names of a stream, so that a message costs no
// string of its own.
type names map[string]string

const (
	maxNames = 64  // names kept
	maxName  = 128 // bytes of a name
)

// of is the name as a string; of a longer one only its beginning.
func (n *names) of(name []byte) string {
	name = name[:min(len(name), maxName)]
	if s, ok := (*n)[string(name)]; ok {
		return s
	}
	s := string(name)
	if *n == nil {
		*n = names{}
	}
	if len(*n) < maxNames {
		(*n)[s] = s
	}
	return s
}

var (
	colon = []byte(":")
	blank = []byte(" ")
)
