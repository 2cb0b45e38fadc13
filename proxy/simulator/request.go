package simulator

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// maxBody is how many bytes of a request are read.
const maxBody = 64 << 20

// request is what one request asks for.
type request struct {
	model    string
	stream   bool
	usage    bool   // Chat and Completions tell usage in a stream only when asked
	limit    int    // tokens to generate at most; 0: no limit
	tool     string // the tool that can be called; "" where none is offered
	results  int    // tool results in the conversation
	marked   bool   // parts are marked for the cache
	inputs   int    // texts to embed
	prompt   string
	progress bool
	prewarm  bool // the prompt is to be read, and nothing generated
}

// bodyOf reads the body, undoing gzip.
func bodyOf(w http.ResponseWriter, r *http.Request) (gjson.Result, error) {
	var body io.Reader = http.MaxBytesReader(w, r.Body, maxBody)
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			return gjson.Result{}, badRequest("the body is not gzip: " + err.Error())
		}
		body = io.LimitReader(unzipped, maxBody)
	default:
		return gjson.Result{}, &fault{status: http.StatusUnsupportedMediaType, message: fmt.Sprintf("content-encoding %q is not read", encoding)}
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return gjson.Result{}, badRequest("the body could not be read: " + err.Error())
	}
	if !gjson.ValidBytes(raw) {
		return gjson.Result{}, badRequest("the body is not JSON")
	}
	return gjson.ParseBytes(raw), nil
}

// read takes from a body what matters here.
func read(dialect exchange.Dialect, body gjson.Result) (request, error) {
	f := formats[dialect]
	parts := f.parts
	need := parts[len(parts)-1]
	if body.Get("model").String() == "" {
		return request{}, badRequest("model is required")
	}
	if !body.Get(need).Exists() {
		return request{}, badRequest(need + " is required")
	}
	conversation := body.Get(need)
	tool := ""
	if slices.Contains(parts, "tools") {
		tool = offered(body.Get("tools"))
	}
	return request{
		model:    body.Get("model").String(),
		stream:   body.Get("stream").Bool() && f.voice != nil,
		usage:    body.Get("stream_options.include_usage").Bool(),
		limit:    limit(body),
		tool:     tool,
		results:  results(conversation),
		marked:   strings.Contains(body.Raw, `"cache_control"`),
		inputs:   max(1, len(conversation.Array())),
		prompt:   prompt(body, parts),
		progress: body.Get("return_progress").Bool(),
		prewarm:  body.Get("generate").Type == gjson.False,
	}, nil
}

func limit(body gjson.Result) int {
	return int(cmp.Or(
		body.Get("max_output_tokens").Int(),
		body.Get("max_completion_tokens").Int(),
		body.Get("max_tokens").Int(),
	))
}

// offered names the function to call: exec_command, which Codex offers, else
// the first one.
func offered(tools gjson.Result) string {
	first := ""
	for _, tool := range tools.Array() {
		if t := tool.Get("type").String(); t != "" && t != "function" { // in Messages, the client's own have none
			continue
		}
		name := cmp.Or(tool.Get("name").String(), tool.Get("function.name").String())
		if name == "exec_command" {
			return name
		}
		first = cmp.Or(first, name)
	}
	return first
}

// results counts the tool results, as each wire format marks them.
func results(conversation gjson.Result) int {
	n := 0
	for _, item := range conversation.Array() {
		if strings.HasSuffix(item.Get("type").String(), "_call_output") || item.Get("role").String() == "tool" {
			n++
		}
		n += len(item.Get(`content.#(type=="tool_result")#`).Array())
	}
	return n
}
