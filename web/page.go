package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

//go:embed templates
var templateFiles embed.FS

// page is what surrounds every view; each view's struct begins with it.
type page struct {
	Language language
	Title    string
	Tabs     []tab
	Switch   string   // address of the same view in the other language
	Recorder recorder // zero for a stranger, as the next
	Version  string
	Zone     int    // of the times, in minutes east of Greenwich
	Live     string // address of the events that the view shows as they come; "" if it shows none
	Reload   string // names of the events upon which the view is to be loaded anew; "" for none

	templates map[string]*template.Template // in the page's language
}

// recorder says at the top of every view whether the log can be relied on.
type recorder struct {
	Trouble bool
	Words   string
}

// page begins a view: it settles the language and fills in the surroundings.
func (s *site) page(w http.ResponseWriter, r *http.Request, title string) page {
	l := languageOf(r)
	keepLanguage(w, r, l)
	q := r.URL.Query()
	q.Set("lang", string(l.Other()))
	_, offset := s.Now().Zone()
	p := page{
		Language: l,
		Zone:     offset / 60,
		Title:    l.say(title),
		Tabs:     s.tabs(l, r),
		Switch:   r.URL.EscapedPath() + "?" + q.Encode(),

		templates: s.pages[l](),
	}
	if s.admits(r) {
		p.Recorder, p.Version = s.recorder(l), s.Version
	}
	return p
}

// tab is an entry of the navigation.
type tab struct {
	Word, URL string
	Key       string // that opens it, after g
	Current   bool
}

// tabs are the views of the navigation with their addresses, and how those of the
// views begin that belong to each.
var tabs = []struct {
	name, key, path string
	below           []string
}{
	{"log", "l", "/-/", []string{"/-/requests/", "/-/turns/", "/-/compare"}},
	{"charts", "c", "/-/charts", nil},
	{"models", "m", "/-/models", nil},
	{"experiments", "e", "/-/experiments", []string{"/-/experiments/"}},
	{"audit", "a", "/-/audit", []string{"/-/audit/"}},
	{"connect", "s", "/-/connect", nil},
}

// tabs is the navigation as seen from a view: what is filtered there stays so.
func (s *site) tabs(l language, r *http.Request) []tab {
	_, q, _ := s.parseQuery(r)
	var all []tab
	for _, t := range tabs {
		within := func(beginning string) bool { return strings.HasPrefix(r.URL.Path, beginning) }
		all = append(all, tab{
			Word:    l.say("nav." + t.name),
			URL:     q.choosing(t.path),
			Key:     t.key,
			Current: r.URL.Path == t.path || slices.ContainsFunc(t.below, within),
		})
	}
	return all
}

// pages are the templates, by language and by the view's name. They take megabytes
// of memory, and a proxy whose page nobody looks at does without.
type pages map[language]func() map[string]*template.Template

func readPages(a assets) pages {
	p := pages{}
	for _, l := range []language{english, chinese} {
		p[l] = sync.OnceValue(func() map[string]*template.Template { return readViews(l, a) })
	}
	return p
}

// readViews parses each view's template together with the ones that views share.
func readViews(l language, a assets) map[string]*template.Template {
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	funcs := template.FuncMap{"t": l.say, "rich": l.rich, "asset": a.addressOf, "dash": dash}
	shared := template.Must(template.New("").Funcs(funcs).ParseFS(templateFiles, "templates/shared/*.html"))
	views := map[string]*template.Template{}
	for _, file := range files {
		view := template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, file))
		views[strings.TrimSuffix(path.Base(file), ".html")] = view
	}
	return views
}

func dash() string { return figure.Unknown }

// render writes the view that begins with p, once all of it has been made:
// half a page is worse than an error.
func (p page) render(w http.ResponseWriter, status int, name string, view any) error {
	var b bytes.Buffer
	if err := p.templates[name].ExecuteTemplate(&b, "layout.html", view); err != nil {
		return fmt.Errorf("render view %q: %w", name, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", p.Language.Tag())
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a reader who has left misses nothing
	return nil
}
