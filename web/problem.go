package web

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/ttftap/ttftap/store"
)

// The errors of a request that no view can answer.
var (
	errNoSuchPage  = errors.New("no such page")
	errMethod      = errors.New("method not allowed")
	errHost        = errors.New("host name not ours")
	errCrossOrigin = errors.New("asked for by another site")
	errToken       = errors.New("token missing or wrong")
	errCrowded     = errors.New("too many live pages")
)

// brokenFilter is the error of a program whose filter cannot be read. A page
// repairs it and says so; a program would take the wrong rows for the right.
type brokenFilter []store.Problem

func (b brokenFilter) Error() string {
	parts := make([]string, len(b))
	for i, p := range b {
		parts[i] = fmt.Sprintf("%s=%q: %s", p.Name, p.Value, p.Reason)
	}
	return strings.Join(parts, "; ")
}

// problem is an error as a reader is told it.
type problem struct {
	status int
	key    string // of its phrases: problem.KEY.title and problem.KEY.text
	args   []any  // of the text
}

func problemOf(r *http.Request, err error) problem {
	var broken brokenFilter
	var plan brokenPlan
	switch {
	case errors.As(err, &plan):
		return problem{http.StatusBadRequest, "plan", []any{plan.Error()}}
	case errors.Is(err, errNoSuchExperiment):
		return problem{http.StatusNotFound, "experiment", nil}
	case errors.As(err, &broken):
		return problem{http.StatusBadRequest, "filter", []any{broken.Error()}}
	case errors.Is(err, errNoSuchPage):
		return problem{http.StatusNotFound, "page", nil}
	case errors.Is(err, errNoSuchAudit):
		return problem{http.StatusNotFound, "audit", nil}
	case errors.Is(err, errNoSuchTurn):
		return problem{http.StatusNotFound, "turn", nil}
	case errors.Is(err, fs.ErrNotExist):
		return problem{http.StatusNotFound, "exchange", nil}
	case errors.Is(err, errMethod):
		return problem{http.StatusMethodNotAllowed, "method", nil}
	case errors.Is(err, errHost):
		host := plain(hostOf(r.Host), 100)
		return problem{http.StatusForbidden, "host", []any{host, host}}
	case errors.Is(err, errCrossOrigin):
		return problem{http.StatusForbidden, "origin", nil}
	case errors.Is(err, errToken):
		return problem{http.StatusUnauthorized, "token", nil}
	case errors.Is(err, errCrowded):
		return problem{http.StatusServiceUnavailable, "crowded", []any{listenMost}}
	case store.IsDamaged(err):
		return problem{http.StatusInternalServerError, "damaged", nil}
	}
	return problem{http.StatusInternalServerError, "store", nil}
}

// problemView tells an error to a person.
type problemView struct {
	page
	Text   string
	Asked  string // id of an exchange that is not in the log
	Search string // address that looks for it
}

// fail tells an error: to a person as a page, to a program as JSON or a line.
// What only the operator should know goes to the program's log.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(r, err)
	if p.status == http.StatusInternalServerError && r.Context().Err() == nil {
		s.Log.ErrorContext(r.Context(), "view failed", "path", r.URL.Path, "error", err)
	}
	switch {
	case errors.Is(err, errMethod):
		w.Header().Set("Allow", "GET, HEAD")
	case errors.Is(err, errToken):
		w.Header().Set("WWW-Authenticate", `Bearer realm="ttftap"`)
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/-/api/"):
		p.asJSON(w, languageOf(r))
	case errors.Is(err, errHost), strings.HasPrefix(r.URL.Path, "/-/export."), r.URL.Path == "/-/live":
		p.asText(w, languageOf(r))
	default:
		if err := s.failPage(w, r, p, err); err != nil {
			s.Log.ErrorContext(r.Context(), "error page failed", "error", err)
			p.asText(w, languageOf(r))
		}
	}
}

func (p problem) text(l language) string { return l.say("problem."+p.key+".text", p.args...) }

func (p problem) asJSON(w http.ResponseWriter, l language) {
	type message struct {
		Message string `json:"message"`
	}
	_ = writeJSON(w, p.status, map[string]message{"error": {p.text(l)}}) // a string is always JSON
}

func (p problem) asText(w http.ResponseWriter, l language) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(p.status)
	_, _ = io.WriteString(w, p.text(l)+"\n")
}

func (s *site) failPage(w http.ResponseWriter, r *http.Request, p problem, err error) error {
	if errors.Is(err, errToken) {
		return s.showLogin(w, r, loginView{Next: r.URL.RequestURI()})
	}
	v := problemView{page: s.page(w, r, "problem."+p.key+".title")}
	v.Text = p.text(v.Language)
	if id := idOf(r); errors.Is(err, fs.ErrNotExist) && id != "" {
		v.Asked, v.Search = plain(id, nameRunes), rowsWith("q", id)
	}
	return v.render(w, p.status, "problem", v)
}
