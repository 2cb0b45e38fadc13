package proxy

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// question is how many tokens a stream has, asked of the upstream in the client's
// stead. The zero question is none.
type question struct {
	body      []byte        // the request with it; nil once it is of no more use
	asked     bool          // the answer is to a request with it
	began     time.Time     // when the end of the client's body was first waited for
	waited    time.Duration // for that, and for an upstream that refused the question
	length    int64         // of the client's own body, -1 if it was not told
	encodings []string      // that the client accepts
}

// What is said of it on the row.
const (
	noteAsked      = "ttftap asked for usage (--inject-usage)"
	noteLeftIn     = "the usage is left in the client's stream: the answer is compressed"
	noteRefused    = "usage was not asked for: the upstream does not know the question"
	noteSentTwice  = "usage was asked for, and the request sent without once a refusal named the question"
	noteCompresses = "usage was not asked for: the upstream compresses answers unasked"
	noteCompressed = "usage was not asked for: the request body is compressed"
	noteTooLong    = "usage was not asked for: the request body is too long"
	noteSigned     = "usage was not asked for: the request body has a digest"
	noteOnlyPacked = "usage was not asked for: the client accepts no plain answer"
)

// digests are headers that hold for the body as the client sent it alone.
var digests = []string{"Content-Digest", "Repr-Digest", "Digest", "Content-Md5", "X-Amz-Content-Sha256"}

// askUsage makes a request ask for usage where it may. It waits for the whole
// body, since a word on usage may stand at its end.
func (f *flight) askUsage(r *http.Request) {
	if !f.proxy.config.InjectUsage || !f.mayOmitUsage() || r.Method != http.MethodPost || r.Body == nil {
		return
	}
	if why := f.cannotAsk(r); why != "" {
		f.note(why)
		return
	}
	q := &f.question
	q.began, q.length, q.encodings = time.Now(), r.ContentLength, r.Header["Accept-Encoding"]
	body := f.upload.whole()
	if body == nil && !f.upload.ended() {
		f.note(noteTooLong)
	}
	q.body = dialect.AskUsage(body)
	q.asked = q.body != nil
	f.load(r)
}

// mayOmitUsage says whether the format is one whose streams have no usage unless it
// is asked for.
func (f *flight) mayOmitUsage() bool {
	return f.x.Dialect == exchange.Chat || f.x.Dialect == exchange.Completions
}

// cannotAsk says why a request that might ask is left as it is, "" for no reason.
func (f *flight) cannotAsk(r *http.Request) (note string) {
	if why, ok := f.proxy.unasked.Load(f.upstream); ok {
		return why.(string)
	}
	switch {
	case !isIdentity(f.coding):
		return noteCompressed
	case r.ContentLength >= readable:
		return noteTooLong
	case firstHeader(r.Header, digests) != "":
		return noteSigned
	case refusesIdentity(r.Header["Accept-Encoding"]):
		return noteOnlyPacked
	}
	return ""
}

// refusesIdentity says whether a client takes no answer that is not compressed.
func refusesIdentity(accepted []string) bool {
	for c := range strings.SplitSeq(strings.Join(accepted, ","), ",") {
		coding, weight, weighted := strings.Cut(strings.ReplaceAll(strings.ToLower(c), " ", ""), ";q=")
		if weighted && strings.Trim(weight, "0.") == "" && (coding == "identity" || coding == "*") {
			return true
		}
	}
	return false
}

// load puts the body into the request, with the question or as the client sent it.
// Of a compressed answer nothing could be taken out, so none is asked for.
func (f *flight) load(r *http.Request) {
	q := &f.question
	q.waited = time.Since(q.began)
	r.Body, r.ContentLength = f.outgoing(), q.length
	if q.encodings != nil {
		r.Header["Accept-Encoding"] = q.encodings
	}
	if !q.asked {
		return
	}
	if q.length > 0 {
		r.ContentLength = int64(len(q.body))
	}
	if q.encodings != nil {
		r.Header["Accept-Encoding"] = []string{"identity"}
	}
}

// outgoing is the request body as the upstream is to get it, from its start.
func (f *flight) outgoing() io.ReadCloser {
	if f.question.asked {
		return io.NopCloser(bytes.NewReader(f.question.body))
	}
	return f.upload.open()
}

// maxRefusal is how much of a refusal is looked through.
const maxRefusal = 64 << 10

// refused says whether an answer refuses the question, which it names then, and
// prepares the request to be sent without.
func (f *flight) refused(r *http.Request, res *http.Response) bool {
	if !f.question.asked || res.StatusCode != http.StatusBadRequest && res.StatusCode != http.StatusUnprocessableEntity {
		return false
	}
	said, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // an error comes again with what follows
	if !f.namesQuestion(said, res.Header.Get("Content-Encoding")) {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(said), res.Body), res.Body}
		return false
	}
	_ = res.Body.Close()
	f.locked(func() { f.x.Sent = nil })
	f.question.asked, f.question.body = false, nil
	f.load(r)
	return true
}

// namesQuestion says whether a refusal, which may be compressed unasked, names the
// question.
func (f *flight) namesQuestion(said []byte, coding string) (named bool) {
	f.note(guarded(f.proxy.config.Log, func() string {
		plain, _ := plainBody(said, coding) // what cannot be decoded names nothing
		named = bytes.Contains(plain, []byte("stream_options")) || bytes.Contains(plain, []byte("include_usage"))
		return ""
	}))
	return named
}

// learn keeps, of an upstream that took the request without the question, that it
// is not to be asked again. One that did not, or gave no answer, may only have
// quoted it.
func (f *flight) learn(res *http.Response) {
	if res == nil || res.StatusCode/100 != 2 {
		f.note(noteSentTwice)
		return
	}
	f.proxy.unasked.Store(f.upstream, noteRefused)
	f.note(noteRefused)
}

// withoutUsage is the body of an answer without what came only because usage was
// asked for.
func (f *flight) withoutUsage(res *http.Response, t *tap) io.ReadCloser {
	if !f.question.asked {
		return t
	}
	f.note(noteAsked)
	stream := t.media == "text/event-stream" || res.ContentLength < 0 // some call it by another name
	switch {
	case res.StatusCode/100 != 2 || !stream:
		return t
	case !isIdentity(res.Header.Get("Content-Encoding")):
		f.proxy.unasked.Store(f.upstream, noteCompresses)
		f.note(noteLeftIn)
		return t
	}
	res.ContentLength = -1
	res.Header.Del("Content-Length")
	return &excised{ReadCloser: t}
}

// account counts what was waited for before a request was handed over to the
// upload: the proxy's own share it is not, and no more the model's.
func (q *question) account(x *exchange.Exchange) {
	if q.waited == 0 || x.Upload == nil || x.Network == nil {
		return
	}
	x.Upload, x.Network = new(*x.Upload+q.waited), new(*x.Network+q.waited)
	if x.Wait != nil {
		x.Wait = new(max(0, *x.Wait-q.waited))
	}
	if x.Proxy != nil {
		x.Proxy = new(max(0, *x.Proxy-q.waited))
	}
}

// excised is the body of an answer of which something is taken out.
type excised struct {
	io.ReadCloser
	excision
	out   []byte // ready to be read
	err   error  // how the answer ended
	ended bool   // and nothing of it is left
}

// Read reads on until there is something to pass on.
func (e *excised) Read(p []byte) (int, error) {
	for len(e.out) == 0 {
		switch {
		case e.ended:
			return 0, e.err
		case e.err != nil:
			e.out, e.ended = e.close(), true
		default:
			var n int
			n, e.err = e.ReadCloser.Read(p)
			e.out = e.write(p[:n])
		}
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}
