// Package websocket reads the messages of a WebSocket (RFC 6455) from a copy of
// its bytes, one direction at a time, and words frames. It holds no connection
// and answers nothing: who watches others speak has no part in what they say.
package websocket

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"math"
)

// Opcode says what a frame carries.
type Opcode byte

// The opcodes; those between are reserved.
const (
	Continuation Opcode = 0x0
	Text         Opcode = 0x1
	Binary       Opcode = 0x2
	Close        Opcode = 0x8
	Ping         Opcode = 0x9
	Pong         Opcode = 0xA
)

// IsControl says whether such frames may stand between those of a message.
func (o Opcode) IsControl() bool { return o&0x8 != 0 }

// Bits of a frame's first two bytes.
const (
	final    = 0x80 // the last frame of a message
	reserved = 0x70 // in use by an extension
	opcode   = 0x0f
	masked   = 0x80
	length   = 0x7f
)

// Lengths that stand for longer ones, which follow in so many bytes.
const (
	short    = 125
	length16 = 126
	length64 = 127
)

// Append adds a message of one frame, as a server sends it, to b.
func Append(b []byte, op Opcode, payload []byte) []byte {
	return append(appendHead(b, op, 0, len(payload)), payload...)
}

// AppendMasked adds a message of one frame, as a client sends it, to b.
func AppendMasked(b []byte, op Opcode, mask [4]byte, payload []byte) []byte {
	b = append(appendHead(b, op, masked, len(payload)), mask[:]...)
	n := len(b)
	b = append(b, payload...)
	unmask(b[n:], mask, 0)
	return b
}

func appendHead(b []byte, op Opcode, mask byte, size int) []byte {
	b = append(b, final|byte(op))
	switch {
	case size <= short:
		return append(b, mask|byte(size))
	case size <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, mask|length16), uint16(size))
	}
	return binary.BigEndian.AppendUint64(append(b, mask|length64), uint64(size))
}

// unmask undoes a mask, or puts it on. The first byte is the payload's at pos.
func unmask(p []byte, mask [4]byte, pos uint64) {
	for i := range p {
		p[i] ^= mask[(pos+uint64(i))%4]
	}
}

// Accept is what a server answers, in Sec-WebSocket-Accept, to a client's
// Sec-WebSocket-Key.
func Accept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Closing takes a close frame's payload apart. A code of 1005 stands for none.
func Closing(payload []byte) (code int, reason string) {
	if len(payload) < 2 {
		return 1005, ""
	}
	return int(binary.BigEndian.Uint16(payload)), string(payload[2:])
}
