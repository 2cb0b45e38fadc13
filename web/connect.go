package web

import (
	"context"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// connectView tells how to send a client's requests through the proxy.
type connectView struct {
	page
	Steps steps
}

// steps are what there is to do, with this proxy's own addresses.
type steps struct {
	Listen  string
	Waiting *waiting // nil where the log cannot tell
	Choices []choice // of the upstream; none where there is but one
	Unknown string   // the upstream that was asked for and is none; "" else
	Clients []paste
	Checks  []check
	Routes  []route
}

// waiting tells whether a request has come yet.
type waiting struct {
	Arrived bool
	Last    string // the newest in a few words
	URL     string // of the newest
	Again   string // asks for the view anew
}

// check is something that can be known without asking an upstream.
type check struct {
	Trouble bool
	Words   template.HTML
}

// route is a base URL to give to a client, and where it leads.
type route struct{ Base, URL string }

func (s *site) connect(w http.ResponseWriter, r *http.Request) error {
	position := s.hub.position() // before anything is read: what comes meanwhile is told of then
	v := connectView{page: s.page(w, r, "connect.title")}
	_, q, _ := s.parseQuery(r)
	name := q.get("upstream")
	u, known := s.upstream(name)
	v.Steps = s.stepsTo(r.Context(), v.Language, u)
	if !known {
		v.Steps.Unknown = v.Language.say("connect.unknown", plain(name, nameRunes), u.Name)
	}
	v.Steps.Choices = s.choices(q, u)
	if wait := v.Steps.Waiting; wait != nil && !wait.Arrived {
		wait.Again = r.URL.RequestURI()
		v.Live, v.Reload = liveURL(query{}, v.Language, scale{}, position), "started finished"
	}
	return v.render(w, http.StatusOK, "connect", v)
}

// upstream finds an upstream by its name; the default one stands in for one that
// is not there.
func (s *site) upstream(name string) (u Upstream, known bool) {
	i := slices.IndexFunc(s.Upstreams, func(u Upstream) bool { return u.Name == name })
	if i < 0 {
		return s.Upstreams[0], name == ""
	}
	return s.Upstreams[i], true
}

// choices leads to the same view for each upstream; what is filtered stays so.
func (s *site) choices(q query, chosen Upstream) []choice {
	if len(s.Upstreams) < 2 {
		return nil
	}
	changed := url.Values(maps.Clone(q))
	var all []choice
	for _, u := range s.Upstreams {
		changed.Set("upstream", u.Name)
		all = append(all, choice{Word: u.Name, URL: query(changed).choosing("/-/connect"), Current: u == chosen})
	}
	return all
}

// steps are those for the default upstream, as the empty log shows them.
func (s *site) steps(ctx context.Context, l language) steps {
	return s.stepsTo(ctx, l, s.Upstreams[0])
}

func (s *site) stepsTo(ctx context.Context, l language, u Upstream) steps {
	st := steps{
		Listen:  s.base(),
		Waiting: s.waiting(ctx, l),
		Clients: s.pastes(l, u),
		Checks:  s.checks(ctx, l),
	}
	for _, u := range s.Upstreams {
		st.Routes = append(st.Routes, route{s.baseOf(u), u.URL})
	}
	return st
}

// base is the proxy's address.
func (s *site) base() string { return strings.TrimSuffix(s.Listen, "/") }

// baseOf is what a client has to be given as its base URL to reach an upstream.
func (s *site) baseOf(u Upstream) string {
	if u.Name == s.Upstreams[0].Name {
		return s.base()
	}
	return s.base() + "/to/" + u.Name
}

// waiting looks for the newest exchange, be it under way or ended.
func (s *site) waiting(ctx context.Context, l language) *waiting {
	found, err := s.Store.List(ctx, store.Filter{IncludeOpen: true, Limit: 1})
	if err != nil {
		return nil // the rest needs no log
	}
	if len(found.Exchanges) == 0 {
		return &waiting{Last: l.say("waiting.first"), URL: "/-/", Again: "/-/"}
	}
	x := found.Exchanges[0]
	return &waiting{Arrived: true, Last: lastOf(l, x, s.Now()), URL: exchangeURL(x)}
}

// lastOf is the newest exchange in a few words.
func lastOf(l language, x *exchange.Exchange, now time.Time) string {
	parts := []string{l.say("waiting.last", ago(now.Sub(x.StartedAt)))}
	if x.Client != "" {
		parts = append(parts, plain(x.Client, nameRunes))
	}
	return l.list(append(parts, tagOf(l, x).Word))
}

// ago is a time in whole seconds to two minutes, and rougher from then on.
func ago(d time.Duration) string {
	if d = max(d, 0); d < 2*time.Minute {
		return strconv.Itoa(int(d.Seconds())) + " s"
	}
	return figure.Pause(&d)
}

// checks are what can be seen from here; to ask an upstream is not the page's
// business.
func (s *site) checks(ctx context.Context, l language) []check {
	all := []check{{Words: l.rich("check.listening", s.base())}, s.checkFile(l)}
	all = append(all, s.checkRecorder(l)...)
	if n, more, err := s.Store.CountTo(ctx, store.Filter{}, countMost); err == nil {
		words := l.number("connect.count", n)
		if more {
			words = l.say("connect.count.many", l.say("scope.more", countOf(n)))
		}
		all = append(all, check{Words: template.HTML(words)})
	}
	return append(all, s.checkKept(l)...)
}

// checkKept says what becomes of older requests, if anything does.
func (s *site) checkKept(l language) (all []check) {
	if keep := s.Keeps.Keep; keep > 0 {
		all = append(all, check{Words: l.rich("check.kept", store.FormatSpan(keep))})
	}
	if most := s.Keeps.MaxRows; most > 0 {
		all = append(all, check{Words: l.rich("check.newest", figure.Count(&most))})
	}
	return all
}

// checkFile looks at the file of the log and the one that is written ahead of it.
func (s *site) checkFile(l language) check {
	path := s.Store.Path()
	file, err := os.Stat(path)
	if err != nil {
		return check{Trouble: true, Words: l.rich("check.gone", plain(path, proseRunes))}
	}
	bytes := file.Size()
	if ahead, err := os.Stat(path + "-wal"); err == nil {
		bytes += ahead.Size()
	}
	return check{Words: l.rich("check.log", plain(path, proseRunes), strings.ReplaceAll(size(&bytes), " ", "\u00a0"))}
}
