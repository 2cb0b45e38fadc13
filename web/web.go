// Package web is the page under /-/: the request log, live; one exchange, one turn,
// two exchanges compared; charts, models, experiments, audits, how to connect; the exports and the JSON
// of these. It reads the store, follows the recorder, and is told what is under
// way and what is usual for the models. But for the live events it works without
// JavaScript, and it loads nothing from another host.
//
// A view is one file with its query, its struct and its http.Handler, one
// template of the same name, and one route below.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// Config is what the page needs. Store, State, Listen and Upstreams are
// required.
type Config struct {
	Store      *store.Store
	State      func() store.State               // the recorder's state of this moment
	Keeps      store.Retention                  // what of the log is kept
	Listen     string                           // base URL that clients use, for instance http://localhost:8838
	Upstreams  []Upstream                       // the default one first
	Follow     func(func([]*exchange.Exchange)) // the recorder's; nil where nothing is recorded
	UnderWay   func() []*exchange.Exchange      // what is known of those under way, the earliest first; nil where nobody knows
	Models     func() []*diagnosis.Baseline     // what is usual for each model by now; nil where nobody knows
	Token      string                           // asked for on every view; "" asks for none
	AllowHosts []string                         // names that the page answers to besides localhost and the listener's own
	Version    string                           // of the program, shown at the foot
	Now        func() time.Time                 // the clock, and in its zone the times of the page; nil means time.Now
	Log        *slog.Logger                     // takes what an operator should know; nil discards it
	Serving    context.Context                  // done when the server stops, and with it the live pages; nil is never done
}

// Upstream is a place that the proxy forwards to.
type Upstream struct {
	Name string // "default" for the unnamed one
	URL  string // its base URL
}

// New returns the page. It expects whole paths, those that begin with /-/.
func New(c Config) http.Handler {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Serving == nil {
		c.Serving = context.Background()
	}
	assets := readAssets()
	s := &site{Config: c, assets: assets, pages: readPages(assets), recent: newRecent(c.Store), hub: newHub(c), audits: newAudits()}
	if c.Follow != nil {
		c.Follow(s.recent.follow)
		c.Follow(s.hub.follow)
	}
	return s.guard(s.routes())
}

// site is the page with all that its views share.
type site struct {
	Config
	assets assets
	pages  pages
	recent *recent
	hub    *hub
	audits *audits
}

func (s *site) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.GetHead)
	r.NotFound(s.admitted(s.view(func(http.ResponseWriter, *http.Request) error { return errNoSuchPage })).ServeHTTP)
	r.MethodNotAllowed(s.view(func(http.ResponseWriter, *http.Request) error { return errMethod }))

	r.Get("/-/static/{name}", s.view(s.asset))
	r.Get("/-/healthz", s.view(s.health))
	r.Post("/-/login", s.view(s.login))
	r.Group(func(r chi.Router) {
		r.Use(s.admitted)
		r.Get("/-/live", s.view(s.live))
		gate := newGate()
		r.With(gate.inTurns).Get("/-/export.csv", s.view(s.exportCSV))
		r.With(gate.inTurns).Get("/-/export.jsonl", s.view(s.exportJSONL))
		r = r.With(gate.inTurn)
		r.Get("/-/", s.view(s.log))
		r.Get("/-/requests/{id}", s.view(s.exchange))
		r.Get("/-/models", s.view(s.models))
		r.Get("/-/charts", s.view(s.charts))
		r.Get("/-/turns/{id}", s.view(s.turn))
		r.Get("/-/compare", s.view(s.compare))
		r.Get("/-/experiments", s.view(s.experiments))
		r.Get("/-/experiments/compare", s.view(s.compareExperiments))
		r.Get("/-/experiments/{id}", s.view(s.experimentPage))
		r.Get("/-/experiments/{id}/report.md", s.view(s.experimentMarkdown))
		r.Get("/-/audit", s.view(s.audit))
		r.Post("/-/audit", s.view(s.takeAudit))
		r.Get("/-/audit/{id}", s.view(s.auditResult))
		r.Get("/-/audit/{id}/result.json", s.view(s.auditJSON))
		r.Get("/-/audit/{id}/result.csv", s.view(s.auditCSV))
		r.Post("/-/audit/{id}/keep", s.view(s.keepAudit))
		r.Get("/-/connect", s.view(s.connect))
		r.Get("/-/api/requests", s.view(s.apiRequests))
		r.Get("/-/api/requests/{id}", s.view(s.apiExchange))
		r.Get("/-/api/models", s.view(s.apiModels))
		r.Get("/-/api/experiments", s.view(s.apiExperiments))
		r.Post("/-/api/experiments", s.view(s.apiBegin))
		r.Get("/-/api/experiments/range", s.view(s.apiRange))
		r.Get("/-/api/experiments/{id}", s.view(s.apiExperimentReport))
		r.Post("/-/api/experiments/{id}/end", s.view(s.apiEnd))
	})
	return r
}

// view makes an http.Handler of a function that returns its error: whatever
// goes wrong in any view is told to the reader, and logged, in one place.
func (s *site) view(f func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}
