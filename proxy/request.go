package proxy

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// Names under which clients send what groups their requests, the first that is
// there wins. Codex changed its own from underscores to hyphens.
var (
	credentialHeaders = []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key"}
	sessionHeaders    = []string{"Session-Id", "Session_id", "Thread-Id", "Conversation_id", "X-Session-Id", "X-Claude-Code-Session-Id"}
)

// codexTurn is what Codex says of a request in x-codex-turn-metadata.
type codexTurn struct {
	TurnID      string `json:"turn_id"`
	RequestKind string `json:"request_kind"`
}

// readHead takes the facts of the request's headers.
func (f *flight) readHead(r *http.Request) {
	f.x.KeyID = f.proxy.keyID(withoutScheme(firstHeader(r.Header, credentialHeaders)))
	f.secrets = secretsOf(r, f.query)
	f.x.Client = product(r.UserAgent())
	if id, step, ok := experiment.ReadTag(r.UserAgent()); ok {
		f.x.Experiment, f.x.Step = id, &step
	}
	f.x.SessionID = clip(firstHeader(r.Header, sessionHeaders))
	if said := r.Header.Get("X-Codex-Turn-Metadata"); said != "" {
		var turn codexTurn
		if json.Unmarshal([]byte(said), &turn) == nil {
			f.x.TurnID, f.x.RequestKind = clip(turn.TurnID), clip(turn.RequestKind)
		}
	}
}

// dialectOf names the wire format of a request. Only a POST or a WebSocket calls a
// model: a browser's pre-flight or a list of what is stored has the same path.
func dialectOf(r *http.Request, target string) exchange.Dialect {
	if r.Method != http.MethodPost && !isWebSocket(r) {
		return exchange.Other
	}
	return dialect.Detect(target)
}

// keyID tells credentials apart without keeping them: a hash keyed by this
// install's secret.
func (p *Proxy) keyID(credential string) string {
	if credential == "" {
		return ""
	}
	mac, ok := p.macs.Get().(hash.Hash)
	if !ok {
		mac = hmac.New(sha256.New, p.config.Secret)
	}
	defer p.macs.Put(mac)
	mac.Reset()
	mac.Write([]byte(credential))
	return hex.EncodeToString(mac.Sum(nil)[:6])
}

// firstHeader is the first value of the first header that is there. The names are
// in canonical form.
func firstHeader(h http.Header, names []string) string {
	for _, n := range names {
		if v := h[n]; len(v) > 0 && v[0] != "" {
			return v[0]
		}
	}
	return ""
}

// product is the first product of a user agent with its version; some SDKs
// write the version as a word of its own.
func product(agent string) string {
	words := strings.Fields(agent)
	switch {
	case len(words) == 0:
		return ""
	case len(words) > 1 && words[1][0] >= '0' && words[1][0] <= '9':
		return clip(words[0] + " " + words[1])
	}
	return clip(words[0])
}

// newUpload prepares the reading of the request body. JSON is kept whole, up to
// a limit, until it has been read; of anything else the beginning is kept.
func (f *flight) newUpload(r *http.Request) *upload {
	if !hasBody(r) {
		f.x.Received = f.since()
		return &upload{}
	}
	f.coding = r.Header.Get("Content-Encoding")
	announced := int(max(0, r.ContentLength))
	if f.x.Dialect == exchange.Other {
		return &upload{bodies: &f.proxy.bodies, limit: replayable, announced: announced, atEnd: func([]byte) {
			f.received()
			f.open()
		}}
	}
	return &upload{bodies: &f.proxy.bodies, limit: readable, announced: announced, lent: true, atEnd: func(kept []byte) {
		f.received()
		f.locked(func() {
			f.reading.Go(func() { // beside the sending, not before it
				f.readBody(kept)
				f.upload.returned()
			})
		})
	}}
}

func (f *flight) received() { f.locked(func() { f.x.Received = f.since() }) }

// restPatience is how long what no upstream took may take to come.
const restPatience = time.Second

// takeRest reads what no upstream took of the request body: it tells the model, and
// by it the next attempt is known. A client that waits for leave to send is not
// given any, and one that sends slowly has its answer before it has done.
func (f *flight) takeRest(w http.ResponseWriter, r *http.Request) {
	if f.upload.src == nil || f.upload.ended() || f.x.Dialect == exchange.Other || r.Header.Get("Expect") != "" {
		return
	}
	client := http.NewResponseController(w)
	if client.SetReadDeadline(time.Now().Add(restPatience)) == nil {
		f.upload.whole()
		f.hurried = f.upload.broken()
		_ = client.SetReadDeadline(time.Time{})
	}
}

// settleBody waits until the request body has been read, and reads what there is
// of one that never ended.
func (f *flight) settleBody() {
	f.reading.Wait()
	if kept := f.upload.beginning(); kept != nil && f.x.Dialect != exchange.Other {
		f.readBody(kept)
	}
}

// readBody takes the facts of the request body. A body that cannot be read is
// noted and changes nothing.
func (f *flight) readBody(body []byte) {
	if !isIdentity(f.coding) {
		f.proxy.inflating <- struct{}{}
		defer func() { <-f.proxy.inflating }()
	}
	var req dialect.Request
	var plain, tail []byte
	head := body
	note := guarded(f.proxy.config.Log, func() string {
		var err error
		if plain, err = plainBody(body, f.coding); err != nil {
			return "request body not read: " + err.Error()
		}
		req = dialect.ReadRequest(f.x.Dialect, plain)
		head, tail = req.Gist()
		if req.Model == "" && !dialect.IsJSON(plain) { // to look at all of it takes longer than all else
			return "the request body is no JSON"
		}
		return ""
	})
	f.told(req, plain, f.proxy.mark(&f.x, head, tail), note)
}

// told takes what a request says of itself. The row is opened with it; the prompt
// is read afterwards.
func (f *flight) told(req dialect.Request, plain []byte, mark *sameRequest, note string) {
	f.locked(func() {
		f.x.ModelRequested, f.x.Choices = clip(req.Model), req.Choices
		f.wantsUsage = req.IncludeUsage != nil && *req.IncludeUsage
		f.addNote(note)
		f.mark = mark
		f.proxy.retries.find(&f.x, mark)
	})
	f.open()
	f.readPrompt(req, plain)
}

// maxInflating bounds the memory that small bodies can blow up to.
const maxInflating = 4

// plainBody decodes a body for reading, up to the limit of what is read.
func plainBody(body []byte, coding string) ([]byte, error) {
	if isIdentity(coding) {
		return body, nil
	}
	dec, err := newDecoder(coding, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	plain, err := io.ReadAll(io.LimitReader(dec, readable))
	if err != nil && len(plain) == 0 {
		return nil, fmt.Errorf("%s: %w", coding, err)
	}
	return plain, nil
}

// guarded runs an observation; a panic in it becomes a note, since observing must
// never harm the exchange. What it says may hold foreign text, so only where it
// happened is logged.
func guarded(log *slog.Logger, observe func() string) (note string) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("the observer failed", "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			note = "the observer failed"
		}
	}()
	return observe()
}

// note adds to what is to be known of how it was forwarded and read.
func (f *flight) note(what string) { f.locked(func() { f.addNote(what) }) }

// addNote is note for who has the lock.
func (f *flight) addNote(note string) {
	switch {
	case note == "" || strings.Contains(f.x.Note, note):
	case f.x.Note == "":
		f.x.Note = note
	default:
		f.x.Note += "; " + note
	}
}
