package websocket

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// Message is one message of a direction, put together from its frames and
// unmasked. Its Data is valid only until the next call of the reader that made it.
type Message struct {
	Opcode Opcode // never Continuation
	Data   []byte
	Cut    bool      // longer than the reader keeps: Data is its beginning
	Size   int64     // bytes of the payload, Cut or not
	Began  time.Time // when the first byte of its first frame came
}

// DefaultLimit is how many bytes of one message a reader keeps.
const DefaultLimit = 32 << 20

const (
	beginning = 64 << 10 // kept of a message that is longer than the limit
	spare     = 64 << 10 // kept of the memory of a message for the next one
	maxHead   = 14       // bytes of a frame's head: two, the length, the mask
)

// What makes a reader give up: from then on it cannot tell where a frame begins.
var (
	ErrExtended = errors.New("the frames are compressed, or extended otherwise")
	ErrLength   = errors.New("these are no WebSocket frames: one has a length that none can have")
)

// Reader puts the messages of one direction together, however the bytes are cut
// into writes and the messages into frames. It never alters what it is given. Of
// a message longer than its limit it keeps no more than the beginning, and its
// memory is bounded by about twice the limit. Its zero value is ready for use.
type Reader struct {
	Limit int // bytes kept of one message; DefaultLimit if 0

	head  [maxHead]byte
	have  int       // bytes of head
	began time.Time // when the frame's first byte came

	inside bool // the head is complete, the payload is not
	last   bool // of its message
	mask   [4]byte
	masked bool
	pos    uint64 // bytes of the payload that have come
	left   uint64 // that have not

	into    *assembly // where the payload goes; nil: nowhere
	message assembly
	control assembly // may come between the frames of message
	err     error
}

// assembly is a message that is being put together.
type assembly struct {
	Message
	own  []byte // memory for Data that is no view of a write
	room int    // bytes that Data may have
}

// Write takes the next bytes of the direction, which came at some time, and emits
// each message that they complete. An error stays: nothing is read after it.
func (r *Reader) Write(at time.Time, p []byte, emit func(Message)) error {
	for len(p) > 0 && r.err == nil {
		if r.inside {
			p = r.payload(p)
		} else {
			p = r.readHead(at, p)
		}
		if r.inside && r.left == 0 {
			r.endFrame(emit)
		}
	}
	return r.err
}

func (r *Reader) readHead(at time.Time, p []byte) []byte {
	if r.have == 0 {
		r.began = at
	}
	for len(p) > 0 && r.have < r.headSize() {
		n := copy(r.head[r.have:r.headSize()], p)
		r.have += n
		p = p[n:]
	}
	if r.have == r.headSize() {
		r.beginFrame()
	}
	return p
}

// headSize is how many bytes the head has, as far as is known by now.
func (r *Reader) headSize() int {
	n := 2
	if r.have < n {
		return n
	}
	switch r.head[1] & length {
	case length16:
		n += 2
	case length64:
		n += 8
	}
	if r.head[1]&masked != 0 {
		n += 4
	}
	return n
}

func (r *Reader) beginFrame() {
	first, size := r.head[0], r.head[1]&length
	r.left = uint64(size)
	switch size {
	case length16:
		r.left = uint64(binary.BigEndian.Uint16(r.head[2:]))
	case length64:
		r.left = binary.BigEndian.Uint64(r.head[2:])
	}
	switch {
	case first&reserved != 0:
		r.err = ErrExtended
		return
	case r.left > math.MaxInt64:
		r.err = ErrLength
		return
	}
	r.last = first&final != 0
	if r.masked = r.head[1]&masked != 0; r.masked {
		copy(r.mask[:], r.head[r.have-4:])
	}
	r.pos, r.have, r.inside = 0, 0, true
	if r.into = r.assemblyOf(Opcode(first & opcode)); r.into != nil {
		r.into.expect(r.left, r.limit())
	}
}

// assemblyOf is where a frame belongs: a data frame begins a message, or goes on
// with it. One that goes on with nothing, or is of a reserved kind, is passed over.
func (r *Reader) assemblyOf(op Opcode) *assembly {
	switch op {
	case Continuation:
		if r.message.Opcode == 0 {
			return nil
		}
		return &r.message
	case Text, Binary:
		r.message.begin(op, r.began, r.limit())
		return &r.message
	case Close, Ping, Pong:
		r.control.begin(op, r.began, r.limit())
		return &r.control
	}
	return nil
}

func (r *Reader) limit() int {
	if r.Limit <= 0 {
		return DefaultLimit
	}
	return r.Limit
}

// payload takes what p has of the frame's payload, and returns the rest.
func (r *Reader) payload(p []byte) []byte {
	n := int(min(uint64(len(p)), r.left))
	if r.into != nil {
		if r.last && !r.masked && r.into.Size == 0 && uint64(n) == r.left {
			r.into.view(p[:n:n])
		} else {
			added := r.into.add(p[:n])
			if r.masked {
				unmask(added, r.mask, r.pos)
			}
		}
	}
	r.pos += uint64(n)
	r.left -= uint64(n)
	return p[n:]
}

func (r *Reader) endFrame(emit func(Message)) {
	r.inside = false
	done := r.into
	if r.into = nil; done == nil || !r.last && !done.Opcode.IsControl() {
		return
	}
	emit(done.Message)
	done.end()
}

func (a *assembly) begin(op Opcode, at time.Time, limit int) {
	a.end() // a message that another one breaks off is none
	a.Opcode, a.Began, a.room = op, at, limit
}

// end makes room for the next message.
func (a *assembly) end() {
	own := a.own[:0]
	if cap(own) > spare {
		own = nil
	}
	*a = assembly{own: own}
}

// expect prepares for n more bytes. That they are too many is known before they
// come.
func (a *assembly) expect(n uint64, limit int) {
	if n <= uint64(limit-len(a.Data)) && !a.Cut {
		return
	}
	a.Cut, a.room = true, min(beginning, limit)
	if len(a.Data) > a.room {
		a.own = bytes.Clone(a.Data[:a.room])
		a.Data = a.own
	}
}

// view takes a message that came in one piece, without a copy.
func (a *assembly) view(p []byte) {
	a.Size = int64(len(p))
	a.Data = p[:min(len(p), a.room)]
}

// add copies a part of the payload, as far as there is room, and returns the copy.
func (a *assembly) add(p []byte) []byte {
	a.Size += int64(len(p))
	n := len(a.own)
	a.own = append(a.own, p[:min(len(p), a.room-n)]...)
	a.Data = a.own
	return a.own[n:]
}
