package dialect

import (
	"unsafe"

	"github.com/tidwall/gjson"
)

// Create is the type of the message by which a client of the Responses API asks
// for a response over a socket. The rest of it is the body of such a request.
const Create = "response.create"

// Envelope is what a message of a socket says of itself and of where it belongs,
// beside what it brings.
type Envelope struct {
	Type       string // "" where it is not said, or not in what was kept of the message
	Lane       string // stream_id: lanes are answered side by side, within one in turn; "" is a lane too
	ResponseID string // of the response that an event is of; "" where it is not said
}

// ReadEnvelope reads a message of a socket, which may be any bytes. Of one that was
// cut off it reads what is there.
func ReadEnvelope(message []byte) (e Envelope) {
	root := gjson.Parse(unsafe.String(unsafe.SliceData(message), len(message)))
	if !root.IsObject() {
		return e
	}
	root.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "type":
			keepFirst(&e.Type, v)
		case "stream_id":
			keepFirst(&e.Lane, v)
		case "response_id":
			keepFirst(&e.ResponseID, v)
		case "response":
			keepFirst(&e.ResponseID, find(v, "id"))
		}
		return true
	})
	return e
}
