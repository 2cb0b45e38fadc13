package dialect

import "github.com/tidwall/gjson"

// The shapes of an error, in a body or an event:
//
//	{"error":{"message","type","code","param"}}      OpenAI and most others
//	{"type":"error","error":{"type","message"}}      Anthropic
//	{"type":"error","code","message","param"}        the error event of Responses
//	{"error":"..."}                                  Ollama
//	[{"error":{"code","message","status"}}]          Google
//	{"object":"error","message","type","code"}       older vLLM
//	{"detail":"..."}, {"detail":[{"msg","type"}]}    FastAPI, the Codex backend
//
// and an HTTP status as a number under status, status_code or code.

// maxMessage bounds what is kept of an error message, in bytes.
const maxMessage = 2 << 10

// failure is the error that a body or an event tells of, nil for none.
func failure(root gjson.Result) *Error {
	if root.IsArray() {
		root = root.Get("0")
	}
	if !root.IsObject() {
		return nil
	}
	if err := root.Get("error"); truthy(err) {
		return errorIn(err, root)
	}
	if detail := root.Get("detail"); truthy(detail) {
		return errorIn(detail, root)
	}
	if root.Get("object").Str == "error" || root.Get("type").Str == "error" {
		return errorIn(root, root)
	}
	return nil
}

// errorIn reads an error object, or a text in its place. What stands around it
// may hold the status, and the rest where it is only {"error":true}.
func errorIn(err, around gjson.Result) *Error {
	e := &Error{}
	if err.IsArray() {
		err = err.Get("0")
	}
	switch {
	case err.Type == gjson.String:
		e.Message = excerpt(err.Str, maxMessage)
	case err.IsObject():
		e.fill(err)
	default:
		e.fill(around)
	}
	if e.Status == 0 {
		e.Status = statusIn(around)
	}
	return e
}

// fill takes over the fields of an error object.
func (e *Error) fill(err gjson.Result) {
	err.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "message", "msg":
			e.Message = word(v, maxMessage)
		case "type":
			e.Type = word(v, maxWord)
		case "code":
			e.Code = word(v, maxWord)
		case "param":
			e.Param = word(v, maxWord)
		}
		return true
	})
	if e.Type == "error" {
		e.Type = "" // says only that it is one
	}
	if status := err.Get("status"); e.Type == "" && status.Type == gjson.String {
		e.Type = word(status, maxWord) // Google's kind of error
	}
	e.Status = statusIn(err)
}

// word is a string or a number as text, "" for any other value.
func word(v gjson.Result, n int) string {
	if v.Type != gjson.String && v.Type != gjson.Number {
		return ""
	}
	return excerpt(v.String(), n)
}

const ellipsis = "…"

// excerpt is at most so many bytes of a text, the last an ellipsis where there are more.
func excerpt(s string, n int) string {
	if len(s) <= n {
		return clip(s, n)
	}
	return clip(s, n-len(ellipsis)) + ellipsis
}

// statusIn is the HTTP status that an error object names, 0 for none.
func statusIn(err gjson.Result) int64 {
	for _, path := range []string{"status", "status_code", "code"} {
		if n := count(err.Get(path)); n != nil && *n >= 400 && *n <= 599 {
			return *n
		}
	}
	return 0
}
