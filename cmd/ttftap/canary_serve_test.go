package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/websocket"
)

// prompted is a request body that has a canary wherever a prompt may be, in the
// words of all wire formats at once.
func prompted(c canaries) string {
	said := func(of string) []any {
		return []any{
			map[string]any{"role": "system", "content": c.of(of + " system")},
			map[string]any{"role": "user", "name": c.of(of + " name"), "content": []any{
				map[string]any{"type": "input_text", "text": c.of(of + " text")},
				map[string]any{"type": "input_file", "filename": c.of(of + " file name"), "file_data": c.of(of + " file")},
				map[string]any{"type": "image_url", "image_url": map[string]string{"url": "https://x.example/?sig=" + c.of(of+" image")}},
			}},
			map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "t", "function": map[string]string{"name": c.of(of + " tool"), "arguments": c.of(of + " arguments")}}}},
			map[string]any{"role": "tool", "content": c.of(of + " result")},
		}
	}
	return asJSON(map[string]any{
		"type": "response.create", "model": "gpt-5", "stream": true, "user": c.of("user"), "safety_identifier": c.of("safety"),
		"metadata": map[string]string{"m": c.of("metadata"), c.of("metadata name"): "x"}, "client_metadata": map[string]string{"m": c.of("client metadata")},
		"instructions": c.of("instructions"), "system": c.of("system"), "prompt": c.of("prompt"), "api_key": c.of("key in the body"),
		"messages": said("message"), "input": said("input"), "prompt_cache_key": c.of("cache key"), "stop": []string{c.of("stop")},
		"tools": []any{map[string]any{"type": "function", "name": c.of("tool name"), "description": c.of("tool description")}},
	})
}

// withKeys puts a credential in each place of a request where one may be.
func withKeys(c canaries, h http.Header) {
	for _, name := range []string{"Api-Key", "X-Api-Key", "X-Goog-Api-Key", "X-Auth-Token", "Ocp-Apim-Subscription-Key", "X-Litellm-Api-Key"} {
		h.Set(name, c.of(name))
	}
	h.Set("Authorization", "Bearer "+c.of("Bearer"))
	h.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("me:"+c.of("Proxy-Authorization"))))
	h.Set("Cookie", "a=1; session="+c.of("Cookie"))
	h.Set("Sec-Websocket-Protocol", "realtime, openai-insecure-api-key."+c.of("Sec-WebSocket-Protocol"))
	h.Set("Referer", "https://x.example/?q="+c.of("Referer"))
	h.Set("X-Note", c.of("a header"))
}

func withQuery(c canaries) string {
	q := url.Values{}
	for _, name := range []string{"key", "api_key", "access_token", "sig", "q", "beta"} {
		q.Set(name, c.of("?"+name+"="))
	}
	return "?" + q.Encode() + "&" + c.of("a bare word")
}

// canaryPaths are one of each wire format, and one that is not read.
var canaryPaths = []string{"/v1/responses", "/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/embeddings", "/api/chat", "/v1/files"}

// sendCanaries sends them by every road, and reads the answers.
func sendCanaries(t *testing.T, base string, c canaries) (sent int) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	post := func(target string, basic bool) {
		q := must(http.NewRequest(http.MethodPost, base+target, strings.NewReader(prompted(c))))
		withKeys(c, q.Header)
		if basic {
			q.SetBasicAuth(c.of("Basic user"), c.of("Basic password"))
		}
		res, err := client.Do(q)
		if err == nil {
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		sent++
	}
	query := withQuery(c)
	for way := range parrotErrors {
		for _, path := range canaryPaths {
			post("/"+way+path+query, false)
		}
		post("/"+way+canaryPaths[0]+query, true)
	}
	for way := range parrotAnswers {
		for _, path := range canaryPaths {
			if way != "socket" {
				post("/"+way+path+query, way == "head")
			}
		}
	}
	for _, name := range []string{"gone", "out", "safe", "nowhere"} {
		post("/to/"+name+canaryPaths[1]+query, false)
	}
	post("/sk-"+c.of("key in the path")+"/v1/chat/completions", false)
	converseCanaries(t, base, c)
	return sent + 1
}

// converseCanaries sends them over a WebSocket.
func converseCanaries(t *testing.T, base string, c canaries) {
	conn := must(net.Dial("tcp", strings.TrimPrefix(base, "http://")))
	defer conn.Close()
	h := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"ZGVtbyBvZiB0dGZ0YXAhIQ=="}}
	withKeys(c, h)
	fmt.Fprintf(conn, "GET /socket/v1/responses%s HTTP/1.1\r\nHost: localhost\r\n", withQuery(c))
	h.Write(conn)
	io.WriteString(conn, "\r\n")
	from := bufio.NewReader(conn)
	if res, err := http.ReadResponse(from, nil); err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("no WebSocket: %v, %v", res, err)
	}
	conn.Write(websocket.AppendMasked(nil, websocket.Text, [4]byte{1, 2, 3, 4}, []byte(prompted(c))))
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if all, _ := io.ReadAll(io.LimitReader(from, 64<<10)); len(all) == 0 {
		t.Error("nothing came over the WebSocket")
	}
}

// everyPage is what the program shows of itself, in both languages.
func (l left) everyPage(t *testing.T, base string, ids []string) {
	t.Helper()
	paths := []string{
		"/-/", "/-/?q=key&lang=zh&cols=error,path,session_id", "/-/models", "/-/charts", "/-/experiments", "/-/connect", "/-/healthz", "/-/login", "/-/nowhere",
		"/-/export.csv", "/-/export.jsonl", "/-/api/requests?limit=500", "/-/api/models", "/-/api/experiments", "/-/api/requests?from=nonsense",
		"/-/compare?a=" + ids[0] + "&b=" + ids[len(ids)-1], "/", "/-/turns/none",
	}
	for _, id := range ids {
		paths = append(paths, "/-/requests/"+id, "/-/api/requests/"+id)
	}
	for _, path := range paths {
		for _, lang := range []string{"en", "zh"} {
			q := must(http.NewRequest(http.MethodGet, base+path, nil))
			q.Header.Set("Accept-Language", lang)
			q.Header.Set("Accept", "text/html")
			res := must(local.RoundTrip(q))
			l["page "+path+" "+lang] = fmt.Sprint(res.Header) + string(must(io.ReadAll(res.Body)))
			res.Body.Close()
		}
	}
}

// live follows the log until it is told to stop, and returns what it was told.
func live(base string) (told func() string) {
	ctx, stop := context.WithCancel(context.Background())
	q := must(http.NewRequestWithContext(ctx, http.MethodGet, base+"/-/live?since=0", nil))
	res := must((&http.Client{}).Do(q))
	all := make(chan string)
	go func() {
		b, _ := io.ReadAll(res.Body)
		all <- string(b)
	}()
	return func() string { stop(); return <-all }
}

func TestNoCanaryIsLeftBehind(t *testing.T) {
	c, found := make(canaries), make(left)
	upstream := httptest.NewServer(http.HandlerFunc(parrot))
	t.Cleanup(upstream.Close)
	folder := t.TempDir()
	s := startChild(t, upstream.URL+" gone=http://127.0.0.1:9/v1 out=http://model.invalid/v1 safe=https://model.invalid/v1", filepath.Join(folder, "log.db"),
		"TTFTAP_LOG_LEVEL=debug", "HTTP_PROXY=http://me:"+c.of("HTTP_PROXY")+"@127.0.0.1:9", "HTTPS_PROXY=http://me:"+c.of("HTTPS_PROXY")+"@no proxy")
	told := live(s.base)
	sent := sendCanaries(t, s.base, c)
	r := &running{t: t, base: s.base, db: s.db, stderr: s.Stderr.(*lockedBuffer)}
	rows := r.rows(sent)
	if len(rows) != sent {
		t.Errorf("%d rows of %d requests", len(rows), sent)
	}
	var ids []string
	for _, row := range rows {
		ids = append(ids, row["id"])
	}
	found.everyPage(t, s.base, ids)
	found["live events"] = told()
	found.files(t, folder)
	s.Process.Signal(syscall.SIGQUIT) // which prints where each goroutine is
	s.Wait()
	found["log"] = s.Stderr.(*lockedBuffer).String()
	if !strings.Contains(found["log"], "goroutine 1 ") || !strings.Contains(found["log"], "model=gpt-5") {
		t.Errorf("the log is not what it should be: %s", found["log"])
	}
	for _, id := range ids {
		found.command("explain", "--db", s.db, id)
	}
	for _, args := range [][]string{{"report"}, {"export", "--format", "csv"}, {"export", "--format", "jsonl"}, {"rejudge"}} {
		found.command(append(args, "--db", s.db)...)
	}
	found.files(t, folder)
	if !strings.Contains(found["file log.db"]+found["file log.db-wal"], "invalid_api_key") {
		t.Error("the log cannot be read by this test")
	}
	found.holdsNone(t, c)
}

// command runs a command as main does, and adds what it says.
func (l left) command(args ...string) (said string) {
	out := new(lockedBuffer)
	run(lone(), args, out, out) // it may end with anything
	l["output of ttftap "+strings.Join(args, " ")] += out.String()
	return out.String()
}
