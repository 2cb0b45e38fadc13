package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
	"github.com/ttftap/ttftap/store/audit"
	"github.com/ttftap/ttftap/store/audit/console"
)

// auditView is the form that takes a console's export.
type auditView struct {
	page
	Problem   []string // why the last one was not compared
	Zones     []option
	Upstreams []option // where there is more than one
	Shared    bool
	Mapping   *mappingForm // nil unless the header is unknown
}

// option is a choice of a form.
type option struct {
	Value, Word string
	Chosen      bool
}

// mappingForm asks which column is what.
type mappingForm struct {
	File   string
	Fields []mappingField
}

type mappingField struct {
	Name, Word string
	Columns    []option
}

// audit is the view's http.Handler.
func (s *site) audit(w http.ResponseWriter, r *http.Request) error {
	return s.showAudit(w, r, auditQuestion{}, nil)
}

// showAudit is the form, with what became of the last one.
func (s *site) showAudit(w http.ResponseWriter, r *http.Request, q auditQuestion, problem error) error {
	v := auditView{page: s.page(w, r, "audit.title"), Shared: q.Shared}
	v.Zones, v.Upstreams = zoneOptions(v.Language, q.Zone), s.upstreamOptions(v.Language, q.Upstream)
	var unknown *console.UnknownHeader
	switch {
	case errors.As(problem, &unknown):
		v.Mapping = mappingOf(v.Language, unknown)
	case problem != nil:
		v.Problem = []string{auditProblem(v.Language, problem)}
	}
	return v.render(w, cmp.Or(auditStatus(problem), http.StatusOK), "audit", v)
}

// auditProblem words why a file was not compared.
func auditProblem(l language, err error) string {
	var refusal *console.Refusal
	if errors.As(err, &refusal) {
		return plain(refusal.In(string(l)), proseRunes)
	}
	var broken brokenAudit
	if errors.As(err, &broken) {
		return l.say("audit.broken." + string(broken))
	}
	return plain(err.Error(), proseRunes)
}

// zones are the offsets from UTC that the form offers, in minutes.
var zones = func() (all []int) {
	for hour := -12; hour <= 14; hour++ {
		all = append(all, 60*hour)
	}
	all = append(all, -570, -210, 210, 270, 330, 345, 390, 570, 630)
	slices.Sort(all)
	return all
}()

func zoneOptions(l language, chosen string) []option {
	all := []option{{"", l.say("audit.zone.auto"), chosen == ""}}
	for _, minutes := range zones {
		value := strconv.Itoa(minutes)
		all = append(all, option{value, audit.ZoneName(minutes), chosen == value})
	}
	return all
}

func (s *site) upstreamOptions(l language, chosen string) []option {
	if len(s.Upstreams) < 2 {
		return nil
	}
	all := []option{{"", l.say("audit.upstream.all"), chosen == ""}}
	for _, u := range s.Upstreams {
		all = append(all, option{u.Name, u.Name, chosen == u.Name})
	}
	return all
}

func mappingOf(l language, u *console.UnknownHeader) *mappingForm {
	form := &mappingForm{File: plain(u.File, nameRunes)}
	for _, f := range console.Fields() {
		field := mappingField{Name: string(f), Word: l.say("audit.field." + string(f))}
		field.Columns = append(field.Columns, option{"", l.say("audit.field.none"), u.Proposed[f] == ""})
		for _, c := range u.Columns {
			field.Columns = append(field.Columns, option{c, plain(c, nameRunes), u.Proposed[f] == c})
		}
		form.Fields = append(form.Fields, field)
	}
	return form
}

// auditQuestion is what the form asks for, beside the files.
type auditQuestion struct {
	Zone     string // minutes east of UTC; "" where the rows are to show it
	Upstream string
	Shared   bool
	Mapping  console.Mapping
}

// takeAudit is the form's other end. Files are read into memory, compared, and
// forgotten: only what was found is held, for a while.
func (s *site) takeAudit(w http.ResponseWriter, r *http.Request) error {
	if err := s.audits.begin(r.Context()); err != nil {
		return err
	}
	defer s.audits.end()
	q, files, err := readUpload(w, r)
	if err == nil {
		var id string
		if id, err = s.compareUpload(r.Context(), q, files); err == nil {
			http.Redirect(w, r, "/-/audit/"+id, http.StatusSeeOther)
			return nil
		}
	}
	if auditStatus(err) == 0 {
		return err
	}
	return s.showAudit(w, r, q, err)
}

// auditStatus is the status of an error that lies with the file; 0 for others.
func auditStatus(err error) int {
	var refusal *console.Refusal
	var unknown *console.UnknownHeader
	var broken brokenAudit
	switch {
	case errors.As(err, &unknown):
		return http.StatusOK // a question, not an error
	case errors.As(err, &broken) && broken == tooLarge:
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &refusal), errors.As(err, &broken):
		return http.StatusBadRequest
	}
	return 0
}

// compareUpload reads the files, compares them with the log, and holds the result.
func (s *site) compareUpload(ctx context.Context, q auditQuestion, uploads []sentFile) (string, error) {
	options := console.Options{Map: q.Mapping, Zone: s.Now().Location()} // unless the rows show another
	if q.Zone != "" {
		minutes, err := strconv.Atoi(q.Zone)
		if err != nil || !slices.Contains(zones, minutes) {
			return "", brokenAudit("zone")
		}
		options.Zone = time.FixedZone(audit.ZoneName(minutes), 60*minutes)
	}
	var files []audit.File
	for _, u := range uploads {
		read, err := console.Read(u.name, strings.NewReader(u.content), int64(len(u.content)), options)
		if err != nil {
			return "", err
		}
		files = append(files, read...)
	}
	attempts, log, err := s.auditedAttempts(ctx, files, q.Upstream)
	if err != nil {
		return "", err
	}
	result := audit.Compare(files, attempts, audit.Options{Log: log, ZoneFixed: q.Zone != "", Shared: q.Shared})
	return s.audits.hold(&heldAudit{result: result, at: s.Now(), upstream: q.Upstream}), nil
}

// auditedMost is how much of the log is looked at in the time of a file.
const auditedMost = 300_000

// auditedAttempts are those of the log in the time that the files cover, and what the
// log covers as a whole.
func (s *site) auditedAttempts(ctx context.Context, files []audit.File, upstream string) (all []audit.Attempt, log audit.Span, err error) {
	first, err := s.Store.List(ctx, store.Filter{Order: "asc", Limit: 1})
	if err != nil || len(first.Exchanges) == 0 {
		return nil, log, err
	}
	log = audit.Span{From: first.Exchanges[0].StartedAt, To: s.Now()}
	f := store.Filter{Upstream: upstream, Order: "asc"}
	if around := audit.Around(files); !around.From.IsZero() {
		f.From, f.To = store.When{Time: around.From}, store.When{Time: around.To}
	}
	err = s.Store.Each(ctx, f, func(x *exchange.Exchange) error {
		if len(all) == auditedMost {
			return brokenAudit("attempts")
		}
		all = append(all, audit.AttemptOf(x))
		return nil
	})
	return all, log, err
}

// auditURL is the address of a result, in part.
func auditURL(id, class string, page int) string {
	q := url.Values{}
	if class != "" {
		q.Set("class", class)
	}
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	return strings.TrimSuffix("/-/audit/"+id+"?"+q.Encode(), "?")
}

// brokenAudit says, by a word of the catalogue, what is wrong with an upload.
type brokenAudit string

func (b brokenAudit) Error() string { return cmp.Or(english.say("audit.broken."+string(b)), string(b)) }

const tooLarge brokenAudit = "large"
