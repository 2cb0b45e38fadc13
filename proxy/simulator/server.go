// Package simulator is a model server whose truth is known: it queues, reads
// prompts, generates and delivers as real ones do, at rates that are set, and
// tells afterwards how long each phase of each request took. It runs no model:
// its text is filler.
//
// Time is spent in timers and channels alone, each against an absolute
// deadline: exact in a synctest bubble, free of drift elsewhere.
package simulator

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Config says which models are served. Its zero value serves DefaultProfiles.
type Config struct {
	Profiles   []Profile   // nil: DefaultProfiles; the first also answers for names that none has
	Seed       uint64      // same seed and same request, same jitter, chunks and text
	ToolRounds int         // tool rounds of the profiles that set none of their own
	Done       func(Truth) // told the truth of each answer at its end, from many goroutines; nil: nobody is
}

// Server is the simulated model server: an http.Handler that speaks the
// Responses, Chat, Completions, Messages and Embeddings APIs, with and without
// the /v1 before their paths, and Responses over a WebSocket, too.
type Server struct {
	config Config
	models []*model
	born   int64 // makes ids differ between runs
	served atomic.Int64
}

// model is one profile with what its requests share.
type model struct {
	Profile
	slots  *slots
	memory *memory
}

// New makes a server.
func New(c Config) *Server {
	if c.Profiles == nil {
		c.Profiles = DefaultProfiles()
	}
	s := &Server{config: c, born: time.Now().UnixNano()}
	for _, p := range c.Profiles {
		if p.ToolRounds == 0 {
			p.ToolRounds = c.ToolRounds
		}
		s.models = append(s.models, &model{Profile: p, slots: newSlots(p), memory: &memory{load: p.Load, asleep: p.Asleep}})
	}
	return s
}

// ServeHTTP answers one request. It panics with http.ErrAbortHandler where the
// connection is to be cut.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := s.nextID()
	w.Header().Set("X-Request-Id", "req_"+id)
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	dialect, known := paths[path]
	refuse := func(status int, message string) {
		(&fault{status: status, message: message}).write(w, dialect)
	}
	switch {
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && dialect == exchange.Responses:
		s.openSocket(w, r)
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		refuse(http.StatusUpgradeRequired, "no WebSocket here, use POST")
	case path == "/models" && r.Method == http.MethodGet:
		s.listModels(w, r)
	case !known:
		refuse(http.StatusNotFound, "unknown path "+r.URL.Path)
	case r.Method != http.MethodPost:
		refuse(http.StatusMethodNotAllowed, "use POST")
	default:
		s.answer(s.newFlight(w, r, dialect, id))
	}
}

// nextID tells answers apart, those of another run too.
func (s *Server) nextID() string { return fmt.Sprintf("%x%06x", s.born, s.served.Add(1)) }

// paths names the wire format spoken at each path, the /v1 cut off.
var paths = map[string]exchange.Dialect{
	"/responses":        exchange.Responses,
	"/chat/completions": exchange.Chat,
	"/completions":      exchange.Completions,
	"/messages":         exchange.Messages,
	"/embeddings":       exchange.Embeddings,
}

// answer flies f to its end and tells its truth.
func (s *Server) answer(f *flight) {
	err := f.run()
	f.truth.Outcome = f.conclude(err)
	f.truth.Total = time.Since(f.start)
	if s.config.Done != nil {
		s.config.Done(f.truth)
	}
	if f.truth.Outcome == exchange.UpstreamCut {
		panic(http.ErrAbortHandler)
	}
}

// model finds the model that answers for a name.
func (s *Server) model(name string) *model {
	for _, m := range s.models {
		if m.Name == name {
			return m
		}
	}
	return s.models[0]
}

// listModels answers in OpenAI's shape, or, for Codex, which says its version
// and wants entries of its own kind, with a list that adds none.
func (s *Server) listModels(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Has("client_version") {
		writeJSON(w, http.StatusOK, object{"models": []object{}})
		return
	}
	list := []object{}
	for _, m := range s.models {
		list = append(list, object{"id": m.Name, "object": "model", "created": s.born / int64(time.Second), "owned_by": "simulator"})
	}
	writeJSON(w, http.StatusOK, object{"object": "list", "data": list})
}
