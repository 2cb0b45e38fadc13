// Package sse cuts a stream of bytes, however it was cut on its way, into the
// messages of server-sent events or of newline-delimited JSON. It knows no
// vendor and no JSON.
package sse

// Message is one message of a stream. Its Data is valid only until the next
// call of the splitter that made it.
type Message struct {
	Name string // the event field, "" where there was none
	Data []byte // the data lines, joined by a newline
	Cut  bool   // longer than the splitter keeps: Data is its beginning
}

// DefaultLimit is how many bytes of one message a splitter keeps.
const DefaultLimit = 32 << 20
