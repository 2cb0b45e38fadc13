package simulator

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// object is a JSON object.
type object = map[string]any

// fault is a request that is refused.
type fault struct {
	status     int
	message    string
	retryAfter time.Duration
	code       string // OpenAI's, where it is not the one of the status
}

func badRequest(message string) *fault {
	return &fault{status: http.StatusBadRequest, message: message}
}

func (f *fault) Error() string { return f.message }

// blame is the vendors' wording of a status: OpenAI's type and code, and
// Anthropic's type.
type blame struct{ kind, code, anthropic string }

var blames = map[int]blame{
	400: {"invalid_request_error", "invalid_request", "invalid_request_error"},
	401: {"authentication_error", "invalid_api_key", "authentication_error"},
	404: {"invalid_request_error", "not_found", "not_found_error"},
	429: {"rate_limit_error", "rate_limit_exceeded", "rate_limit_error"},
	503: {"server_error", "server_is_overloaded", "overloaded_error"},
}

func blameFor(status int) blame {
	if b, known := blames[status]; known {
		return b
	}
	if status >= 500 {
		return blame{"server_error", "server_error", "api_error"}
	}
	return blames[400]
}

// body is the refusal in the shape of a wire format.
func (f *fault) body(dialect exchange.Dialect) object {
	b := blameFor(f.status)
	if dialect == exchange.Messages {
		return object{"type": "error", "error": object{"type": b.anthropic, "message": f.message}}
	}
	return object{"error": object{"type": b.kind, "code": cmp.Or(f.code, b.code), "param": nil, "message": f.message}}
}

func (f *fault) write(w http.ResponseWriter, dialect exchange.Dialect) {
	if f.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retryAfter.Seconds()))))
	}
	writeJSON(w, f.status, f.body(dialect))
}

// writeJSON ignores a failing write: the client is gone then.
func writeJSON(w http.ResponseWriter, status int, body object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(encode(body))
}

// encode cannot fail: objects are made of plain values here.
func encode(v object) []byte {
	text, _ := json.Marshal(v)
	return text
}
