package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/websocket"
)

// parrot is an upstream that repeats what it was sent. The first part of the path
// says in which way.
func parrot(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	said := repeated{keys: keysIn(r), prompt: string(body), key: withoutBearer(r)}
	way := strings.Split(r.URL.Path, "/")[1]
	if word, ok := parrotErrors[way]; ok {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, word(said))
	} else if answer, ok := parrotAnswers[way]; ok {
		answer(w, r, said)
	} else {
		http.NotFound(w, r)
	}
}

// repeated is what a parrot repeats.
type repeated struct {
	key    string // the one of Authorization
	keys   string // every credential of the request, in several spellings
	prompt string // the request's body
}

func withoutBearer(r *http.Request) string {
	_, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return key
}

func keysIn(r *http.Request) string {
	var all []string
	for name, values := range r.Header {
		if name != "User-Agent" && name != "Referer" && name != "X-Note" {
			all = append(all, values...)
		}
	}
	for _, values := range r.URL.Query() {
		all = append(all, values...)
	}
	if user, password, ok := r.BasicAuth(); ok {
		all = append(all, user, password)
	}
	plain := strings.Join(all, " ")
	return plain + " " + r.URL.RawQuery + " " + strings.ToLower(plain) + " " + strings.ToUpper(plain)
}

// asJSON is a value that can be worded as JSON.
func asJSON(v any) string { return string(must(json.Marshal(v))) }

// message is an error in the shape of OpenAI's.
func message(text string) string {
	return asJSON(map[string]any{"error": map[string]string{"message": text, "type": text, "code": "invalid_api_key", "param": text}})
}

// parrotErrors are the bodies of errors. A prompt is quoted, as it is by those who
// repeat one; a key is not.
var parrotErrors = map[string]func(repeated) string{
	"json":   func(r repeated) string { return message("Incorrect API key provided: " + r.keys) },
	"first":  func(r repeated) string { return message(r.keys + " is no key") },
	"quoted": func(r repeated) string { return message(`Incorrect: "` + r.keys + `", in '` + r.prompt + `'.`) },
	"open":   func(r repeated) string { return message("Invalid prompt: “" + r.prompt) },
	"entity": func(r repeated) string { return message("Invalid prompt: " + html.EscapeString(`"`+r.prompt+`"`)) },
	"twice":  func(r repeated) string { return message(`Invalid prompt: \u0022` + r.prompt + `\u0022`) },
	"nested": func(r repeated) string { return message("400 from the provider: " + message("no: '"+r.prompt+"'")) },
	"detail": func(r repeated) string {
		return asJSON(map[string]any{"detail": []any{map[string]string{"msg": "no " + r.keys, "input": r.prompt, "type": "string_type"}}})
	},
	"text": func(r repeated) string { return "no key: " + r.keys + " " + r.prompt },
	"html": func(r repeated) string { return "<html><title>" + r.keys + "</title><p>" + html.EscapeString(r.prompt) },
	"halves": func(r repeated) string {
		n := len(r.key)
		return message("no: " + r.key[:n/2] + " " + r.key[n/2:] + " or " + r.key[:14] + "**" + r.key[n-14:])
	},
	// The end of what is kept, and of what is read, falls into a key.
	"kept": func(r repeated) string { return message(strings.Repeat("x ", 90) + r.key) },
	"read": func(r repeated) string {
		return message(`"` + strings.Repeat("y", 2000) + `" is no key: ` + r.key)
	},
}

// parrotAnswers are answers of other kinds.
var parrotAnswers = map[string]func(http.ResponseWriter, *http.Request, repeated){
	"head":     parrotHead,
	"event":    parrotEvent,
	"fields":   parrotFields,
	"answer":   parrotAnswer,
	"whole":    parrotWhole,
	"line":     byHand("HTTP/1.1 200 OK\r\n%s\r\n\r\n"),
	"status":   byHand("HTTP/1.1 %s\r\n\r\n"),
	"protocol": byHand("%s\r\n\r\n"),
	"chunk":    byHand("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n"),
	"length":   byHand("HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n"),
	"trailer":  byHand("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n%s\r\n\r\n"),
	"coding":   byHand("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/event-stream\r\n\r\n%s"),
	"socket":   parrotSocket,
}

// parrotHead repeats keys in every header that is kept, and in some that are not.
func parrotHead(w http.ResponseWriter, r *http.Request, said repeated) {
	for _, name := range []string{"Set-Cookie", "X-Echo", "X-Request-Id", "X-Oneapi-Request-Id", "Openai-Model", "Location", "Www-Authenticate"} {
		w.Header().Set(name, said.key)
	}
	w.Header().Set("Trailer", "X-Trailer")
	w.WriteHeader(http.StatusTooManyRequests)
	w.Header().Set("X-Trailer", said.key)
}

// parrotEvent answers 200 and has the error in its stream, a few bytes at a time.
func parrotEvent(w http.ResponseWriter, r *http.Request, said repeated) {
	w.Header().Set("Content-Type", "text/event-stream")
	stream := "event: error\ndata: " + message("no key "+said.keys+`, "`+said.prompt+`"`) + "\n\n"
	for len(stream) > 0 {
		n := min(len(stream), 1000)
		io.WriteString(w, stream[:n])
		w.(http.Flusher).Flush()
		stream = stream[n:]
	}
}

// parrotFields repeats keys where ids, names and counts belong.
func parrotFields(w http.ResponseWriter, r *http.Request, said repeated) {
	usage := map[string]any{"prompt_tokens": 3, "completion_tokens": 2, "input_tokens": 3, "output_tokens": 2, "note": said.prompt, "key": said.key, said.keys: 1}
	io.WriteString(w, asJSON(map[string]any{
		"id": said.key, "model": said.key, "service_tier": said.key, "stop_reason": said.key, "done_reason": said.key, "status": said.key, "usage": usage,
		"incomplete_details": map[string]string{"reason": said.key}, "system_fingerprint": said.key, "output": []any{},
		"choices": []any{map[string]any{"index": 0, "finish_reason": said.key, "message": map[string]string{"content": said.prompt}}},
	}))
}

// uttered are streams in which a model says what it was told, in each way in which
// it can.
func uttered(text string) []string {
	quoted := asJSON(text)
	return []string{
		`{"choices":[{"index":0,"delta":{"content":` + quoted + `,"reasoning_content":` + quoted + `,"refusal":` + quoted + `}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":` + quoted + `,"arguments":` + quoted + `}}]},"text":` + quoted + `}]}`,
		`{"type":"response.output_text.delta","delta":` + quoted + `}`,
		`{"type":"response.reasoning_summary_text.delta","delta":` + quoted + `}`,
		`{"type":"response.function_call_arguments.delta","delta":` + quoted + `}`,
		`{"type":"response.output_item.done","item":{"type":"function_call","name":` + quoted + `,"arguments":` + quoted + `}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + quoted + `,"thinking":` + quoted + `,"partial_json":` + quoted + `}}`,
		`{"model":"m","message":{"role":"assistant","content":` + quoted + `,"thinking":` + quoted + `},"response":` + quoted + `,"done":false}`,
		quoted, `{"broken":` + quoted,
	}
}

func parrotAnswer(w http.ResponseWriter, r *http.Request, said repeated) {
	end, form := "\n\n", "data: "
	if strings.Contains(r.URL.Path, "/api/") {
		w.Header().Set("Content-Type", "application/x-ndjson")
		end, form = "\n", ""
	} else {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for _, event := range uttered(said.prompt + said.keys) {
		io.WriteString(w, form+event+end)
		w.(http.Flusher).Flush()
	}
}

func parrotWhole(w http.ResponseWriter, r *http.Request, said repeated) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, asJSON(map[string]any{
		"id": "r1", "model": "m", "embedding": said.prompt, "message": map[string]string{"content": said.prompt}, "response": said.prompt,
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]string{"content": said.prompt}, "text": said.prompt}},
		"output":  []any{map[string]any{"type": "message", "content": []any{map[string]string{"type": "output_text", "text": said.prompt}}}},
		"content": []any{map[string]string{"type": "text", "text": said.prompt}},
	}))
}

// byHand answers with what is no HTTP, made of keys and the prompt.
func byHand(format string) func(http.ResponseWriter, *http.Request, repeated) {
	return func(w http.ResponseWriter, r *http.Request, said repeated) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		line := strings.Join(strings.Fields(said.key+" "+said.prompt), "-")
		fmt.Fprintf(conn, format, line[:min(len(line), 2000)])
	}
}

// parrotSocket answers the first message of a WebSocket with an event of each kind,
// an error, and a reason for closing it.
func parrotSocket(w http.ResponseWriter, r *http.Request, said repeated) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Request-Id: %s\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		said.key, websocket.Accept(r.Header.Get("Sec-Websocket-Key")))
	heard := firstMessage(rw.Reader)
	for _, event := range append(uttered(heard+said.keys), message("no key "+said.keys+`, "`+heard+`"`)) {
		conn.Write(websocket.Append(nil, websocket.Text, []byte(event)))
	}
	conn.Write(websocket.Append(nil, websocket.Close, []byte("\x03\xf0"+said.key)))
	firstMessage(rw.Reader)
}

// firstMessage reads a message of a client, "" where none comes any more.
func firstMessage(from *bufio.Reader) (text string) {
	var reader websocket.Reader
	p := make([]byte, 64<<10)
	for text == "" {
		n, err := from.Read(p)
		if err != nil {
			return ""
		}
		if err := reader.Write(time.Now(), p[:n], func(m websocket.Message) { text = string(m.Data) }); err != nil {
			return ""
		}
	}
	return text
}
