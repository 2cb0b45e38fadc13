package proxy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// inPieces calls fn with pieces of so many bytes.
func inPieces(stream []byte, size uint8, fn func([]byte)) {
	for n := 1 + int(size); len(stream) > 0; stream = stream[min(n, len(stream)):] {
		fn(stream[:min(n, len(stream))])
	}
}

// Whatever an upstream says, what is kept of it is short, is text, and has neither
// a part of a key nor what stood within quotes.
func FuzzScrub(f *testing.F) {
	f.Add(`Incorrect API key provided: sk-abcdefgh. "a prompt"`, "sk-abcdefgh")
	f.Add("&quot;x&quot; ABCDEFGHIJ \\u0022y\\u0022 \xff", "abcdefghij+/")
	f.Fuzz(func(t *testing.T, text, key string) {
		kept := scrub(text, &secrets{keys: []string{key}})
		if !utf8.ValidString(kept) || utf8.RuneCountInString(kept) > clipped || strings.ContainsAny(kept, "\"`“”«»\n\r") {
			t.Errorf("kept %q", kept)
		}
		for i := range len(key) - inCommon + 1 {
			if run := lower(key[i : i+inCommon]); utf8.ValidString(run) && !strings.Contains(run, "…") && strings.Contains(lower(kept), run) {
				t.Errorf("%q of the key is in %q", run, kept)
			}
		}
	})
}

// A target that Go's server takes goes on as it came, behind the base path.
func FuzzTarget(f *testing.F) {
	for _, target := range []string{"/v1/responses", "//x/%2F;a?b=c&d", "/to/x/v1/%zz", "http://me:key@host/v1?q", "/a?", "*", "/-/", "/%E9\\"} {
		f.Add(target, "/v1")
	}
	f.Fuzz(func(t *testing.T, target, base string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("POST " + target + " HTTP/1.1\r\nHost: h\r\n\r\n")))
		up, bad := ParseUpstream("http://upstream.test" + base)
		if err != nil || bad != nil {
			return
		}
		path, query, hasQuery := splitTarget(r.RequestURI)
		joined := join(up.URL.EscapedPath(), path)
		if !sayable(joined) {
			return // refused with 400
		}
		out := *r.URL
		out.Scheme, out.Host = up.URL.Scheme, up.URL.Host
		setTarget(&out, joined, query, hasQuery)
		want := joined
		if hasQuery {
			want += "?" + query
		}
		if got := out.RequestURI(); got != want && joined != "" {
			t.Errorf("%q goes on as %q, want %q", target, got, want)
		}
		if kept := scrubTarget(path, query); utf8.RuneCountInString(kept) > maxPath {
			t.Errorf("%d characters are kept", utf8.RuneCountInString(kept))
		}
	})
}

// What is told of an upstream is told without what may be secret.
func FuzzUpstream(f *testing.F) {
	f.Add("https://api.openai.com/v1", "name")
	f.Add("http://[::1]:8080/a%2Fb/", "")
	f.Fuzz(func(t *testing.T, base, name string) {
		const secret = "KvJzQpWmXr"
		for _, with := range []string{base, strings.Replace(base, "://", "://me:"+secret+"@", 1), base + "?k=" + secret, base + "#" + secret} {
			u, err := ParseUpstream(name + "=" + with)
			if err != nil {
				if strings.Contains(err.Error(), secret) && !strings.Contains(base+name, secret) {
					t.Errorf("%q is told: %v", with, err)
				}
				continue
			}
			again, err := ParseUpstream(u.Name + "=" + u.URL.String())
			if err != nil || again.URL.String() != u.URL.String() || u.URL.User != nil {
				t.Errorf("%q is read as %q and then as %v, %v", with, u.URL, again.URL, err)
			}
		}
	})
}

// What is taken out of a stream does not depend on how it is cut, and nothing is
// put into it.
func FuzzExcision(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{}],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{}}\n\n"), uint8(3))
	f.Add([]byte("event: a\r\ndata:{\"usage\":null}\r\r: c\n"), uint8(0))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		var whole, cut excision
		one := append(bytes.Clone(whole.write(stream)), whole.close()...)
		var many []byte
		inPieces(stream, size, func(p []byte) { many = append(many, cut.write(p)...) })
		if many = append(many, cut.close()...); !bytes.Equal(one, many) {
			t.Errorf("in one %q, in many %q", one, many)
		}
		rest := stream
		for _, b := range one {
			at := bytes.IndexByte(rest, b)
			if at < 0 {
				t.Fatalf("%q has become %q", stream, one)
			}
			rest = rest[at+1:]
		}
		if !bytes.Contains(stream, []byte("usage")) && !bytes.Equal(one, stream) {
			t.Errorf("%q has become %q", stream, one)
		}
	})
}

// codings are the content codings with what makes them.
var codings = map[string]func(io.Writer) io.WriteCloser{
	"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
	"zstd": func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err) // its options are constants
		}
		return z
	},
}

// inflated is what is read of a compressed answer that comes in pieces.
func inflated(coding string, packed []byte, size uint8) (plain []byte, note string) {
	in := newInflater(coding, slog.New(slog.DiscardHandler), func(_ time.Duration, p []byte) bool {
		plain = append(plain, p...)
		return len(plain) < 1<<20
	}, func(why string) { note = why })
	inPieces(packed, size, func(p []byte) { in.write(0, p) })
	in.finish()
	return plain, note
}

// A compressed answer is read as it was in whatever pieces it comes; of one that was
// cut off, its beginning; and any bytes come to an end.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("data: hello hello hello hello\n\n"), uint8(1), uint16(9))
	f.Add(bytes.Repeat([]byte("x"), 5000), uint8(200), uint16(1))
	f.Fuzz(func(t *testing.T, plain []byte, size uint8, cut uint16) {
		for coding, encoder := range codings {
			var packed bytes.Buffer
			w := encoder(&packed)
			if _, err := w.Write(plain); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			if got, note := inflated(coding, packed.Bytes(), size); !bytes.Equal(got, plain) || note != "" {
				t.Errorf("%s: %q, %s, want %q", coding, got, note, plain)
			}
			if got, _ := inflated(coding, packed.Bytes()[:min(int(cut), packed.Len())], size); !bytes.HasPrefix(plain, got) {
				t.Errorf("%s, cut off: %q is no beginning of %q", coding, got, plain)
			}
			if _, note := inflated(coding, plain, size); strings.Contains(note, "observer failed") {
				t.Errorf("%s: bytes that are none: %s", coding, note)
			}
		}
	})
}

// readAs is what is read of an answer, at one instant.
func readAs(d exchange.Dialect, media string, each func(func([]byte))) (*dialect.Answer, exchange.Exchange, string) {
	r := newReading(d, media, slog.New(slog.DiscardHandler))
	each(func(p []byte) { r.read(time.Second, bytes.Clone(p)) })
	r.finish(true)
	var x exchange.Exchange
	r.measure(&x)
	return r.reader.Answer(), x, r.note
}

// An answer means the same in whatever pieces it comes, whatever it is called.
func FuzzReading(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n"), uint8(2), uint8(1))
	f.Add([]byte("\ufeff {\"error\":{\"message\":\"no\"}}"), uint8(0), uint8(4))
	f.Add([]byte("{\"response\":\"a\"}\n{\"done\":true}\n"), uint8(5), uint8(9))
	dialects := []exchange.Dialect{exchange.Responses, exchange.Chat, exchange.Completions, exchange.Messages, exchange.Embeddings, exchange.Ollama, exchange.Other}
	medias := []string{"", "text/event-stream", "application/x-ndjson", "application/json"}
	f.Fuzz(func(t *testing.T, body []byte, size, which uint8) {
		d, media := dialects[int(which)%len(dialects)], medias[int(which)/len(dialects)%len(medias)]
		one, x, note := readAs(d, media, func(fn func([]byte)) { fn(body) })
		many, y, other := readAs(d, media, func(fn func([]byte)) { inPieces(body, size, fn) })
		if diff := cmp.Diff(one, many); diff != "" || note != other || strings.Contains(note, "failed") {
			t.Errorf("%s as %q: notes %q and %q (-one +many):\n%s", d, media, note, other, diff)
		}
		if x.Transport != y.Transport || *x.Streamed != *y.Streamed || x.UsageSource != y.UsageSource {
			t.Errorf("%s as %q: %s %t %s, in pieces %s %t %s", d, media, x.Transport, *x.Streamed, x.UsageSource, y.Transport, *y.Streamed, y.UsageSource)
		}
	})
}

// Of a usage object the same JSON is kept, but for its texts.
func FuzzUsageObject(f *testing.F) {
	f.Add(`{"prompt_tokens":3,"a":{"b":"c d"},"e\"f":"\\"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		kept := withoutText(raw)
		if !json.Valid([]byte(raw)) {
			return
		}
		if !json.Valid([]byte(kept)) {
			t.Fatalf("%s has become %s", raw, kept)
		}
		if again := withoutText(kept); again != kept {
			t.Errorf("%s, and again %s", kept, again)
		}
		for d := json.NewDecoder(strings.NewReader(kept)); ; {
			token, err := d.Token()
			if err != nil {
				break
			}
			if s, ok := token.(string); ok && (len(s) > wordMost || strings.ContainsAny(s, " \n") && s != "…") {
				t.Errorf("%q is kept", s)
			}
		}
	})
}

// A body that asks for usage is the client's own but for that, and says so.
func FuzzAskUsage(f *testing.F) {
	f.Add([]byte(`{"model":"m","stream":true,"messages":[]}`))
	f.Add([]byte(" {\"stream\" : true }\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		asking := dialect.AskUsage(body)
		if asking == nil {
			return
		}
		var was, is map[string]any
		if json.Unmarshal(body, &was) != nil {
			return
		}
		if err := json.Unmarshal(asking, &is); err != nil {
			t.Fatalf("%q is no JSON: %v", asking, err)
		}
		options, _ := was["stream_options"].(map[string]any)
		if options == nil {
			options = map[string]any{}
		}
		options["include_usage"] = true
		was["stream_options"] = options
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("%q has become %q (-want +got):\n%s", body, asking, diff)
		}
		if r := dialect.ReadRequest(exchange.Chat, asking); r.IncludeUsage == nil || !*r.IncludeUsage {
			t.Errorf("%q does not ask", asking)
		}
	})
}

// Secrets are found in whatever stands in a request.
func FuzzSecrets(f *testing.F) {
	f.Add("Bearer abc", "key=%61&x=y;z")
	f.Fuzz(func(t *testing.T, header, query string) {
		s := secretsOf(&http.Request{Header: http.Header{"Authorization": {header}}}, query)
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		for name, all := range values {
			for _, v := range all {
				if v != "" && !strings.Contains(strings.Join(append(s.keys, s.asked...), "\x00"), v) {
					t.Errorf("%s=%q is no secret", name, v)
				}
			}
		}
	})
}
