package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/store"
	"github.com/ttftap/ttftap/store/audit"
)

// auditResultView is what a comparison found.
type auditResultView struct {
	page
	Verdict string // clean, differences or cannot_compare
	Say     string
	Facts   []fact
	Notes   []string
	Classes []auditClass
	Rows    []auditRow
	Showing string // which rows
	All     string // address of all rows; "" where they are shown
	Next    string // address of the next page
	Before  string
	JSON    string
	CSV     string
	Keep    string // where to ask that rows be kept; "" where there are none
	Kept    bool
}

// auditClass is one class with its sums.
type auditClass struct {
	Word, URL       string
	Current         bool
	Differences     string
	Exchanges, Rows string
	Input, Output   pairOf
	Money           string
}

// pairOf is a number of the log beside the console's.
type pairOf struct {
	Here, There string
	Differ      bool
}

// auditRow is one finding.
type auditRow struct {
	When, UTC string
	Class     string
	Differs   bool
	Model     string
	Key       string
	Input     pairOf
	Output    pairOf
	Money     string
	Reasons   []string
	Exchanges []auditLink
	More      string // exchanges beyond those that are linked
	Where     string
}

type auditLink struct{ URL, Text string }

const (
	auditRows  = 200 // findings of a page
	linksMost  = 6   // exchanges that a finding links to
	warnedMost = 20
)

// auditResult is the view's http.Handler.
func (s *site) auditResult(w http.ResponseWriter, r *http.Request) error {
	held, err := s.audits.find(chi.URLParam(r, "id"), s.Now())
	if err != nil {
		return err
	}
	v := auditResultView{page: s.page(w, r, "audit.title"), Verdict: string(held.result.Verdict)}
	l, result := v.Language, held.result
	v.Say = result.Say.In(string(l))
	v.Facts = s.auditFacts(l, held)
	v.Notes = auditNotes(l, result)
	chosen := r.URL.Query().Get("class")
	for _, t := range result.Counts {
		v.Classes = append(v.Classes, classOf(l, held.id, t, chosen))
	}
	v.fill(s, held, chosen, max(1, pageNumber(r.URL.Query().Get("page"))))
	v.JSON, v.CSV = "/-/audit/"+held.id+"/result.json", "/-/audit/"+held.id+"/result.csv"
	if v.Kept = s.audits.isKept(held); !v.Kept && len(keptRows(result, s.Now())) > 0 {
		v.Keep = "/-/audit/" + held.id + "/keep"
	}
	return v.render(w, http.StatusOK, "audit_result", v)
}

func pageNumber(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// fill puts in one page of the rows: those of a class, or those that are worth a word.
func (v *auditResultView) fill(s *site, held *heldAudit, chosen string, page int) {
	var rows []*audit.Row
	for i := range held.result.Rows {
		if row := &held.result.Rows[i]; chosen == string(row.Class) || chosen == "" && isTelling(row) {
			rows = append(rows, row)
		}
	}
	from := min((page-1)*auditRows, len(rows))
	to := min(from+auditRows, len(rows))
	for _, row := range rows[from:to] {
		v.Rows = append(v.Rows, s.auditRow(v.Language, held.result, row))
	}
	shown := countOf(len(rows))
	v.Showing = v.Language.say("audit.showing.telling", shown)
	if chosen != "" {
		v.Showing = v.Language.say("audit.showing.class", audit.Class(chosen).Words().In(string(v.Language)), shown)
		v.All = auditURL(held.id, "", 1)
	}
	if to < len(rows) {
		v.Next = auditURL(held.id, chosen, page+1)
	}
	if from > 0 {
		v.Before = auditURL(held.id, chosen, page-1)
	}
}

// isTelling says whether a finding is more than that all is well, or not compared.
func isTelling(row *audit.Row) bool {
	switch row.Class {
	case audit.Matched, audit.BucketEqual, audit.OutOfScope:
		return row.Differs
	}
	return true
}

func classOf(l language, id string, t audit.Tally, chosen string) auditClass {
	c := auditClass{
		Word: t.Say.In(string(l)), URL: auditURL(id, string(t.Class), 1), Current: chosen == string(t.Class),
		Exchanges: countOf(t.Exchanges), Rows: countOf(t.ConsoleRows), Money: audit.Sums(t.Money),
	}
	c.Input, c.Output = besides(t.Here.Input, t.There.Input), besides(t.Here.Output, t.There.Output)
	if t.Differences > 0 {
		c.Differences = countOf(t.Differences)
	}
	if t.Class == audit.OutOfScope {
		c.Input.Differ, c.Output.Differ = false, false
	}
	return c
}

func besides(here, there *int64) pairOf {
	return pairOf{figure.Count(here), figure.Count(there), here != nil && there != nil && *here != *there}
}

// auditRow is one finding as the page shows it.
func (s *site) auditRow(l language, result *audit.Result, row *audit.Row) auditRow {
	a := auditRow{
		Class: row.Class.Words().In(string(l)), Differs: row.Differs, Model: plain(row.Model, nameRunes), Key: plain(row.Key, nameRunes),
		Input: besides(row.Here.Input, row.There.Input), Output: besides(row.Here.Output, row.There.Output),
		Money: audit.Sums(row.Money), Where: plain(result.Where(row), proseRunes),
	}
	if !row.Time.IsZero() {
		a.UTC, a.When = utc(row.Time), s.span(row.Time, row.To)
	}
	for _, w := range row.Reasons {
		a.Reasons = append(a.Reasons, w.In(string(l)))
	}
	for i, id := range row.Exchanges[:min(len(row.Exchanges), linksMost)] {
		a.Exchanges = append(a.Exchanges, auditLink{"/-/requests/" + url.PathEscape(id), l.say("audit.exchange", strconv.Itoa(i+1))})
	}
	if len(a.Exchanges) == 1 {
		a.Exchanges[0].Text = l.say("audit.exchange.one")
	}
	if more := len(row.Exchanges) - linksMost; more > 0 {
		a.More = l.say("audit.exchange.more", countOf(more))
	}
	if !row.To.IsZero() {
		f := store.Filter{From: store.When{Time: row.Time}, To: store.When{Time: row.To}}
		a.Exchanges = append(a.Exchanges, auditLink{address("/-/", f.Query()), l.say("audit.bucket")})
	}
	return a
}

// span is a moment, or a stretch, in the page's zone.
func (s *site) span(from, to time.Time) string {
	zone := s.Now().Location()
	text := from.In(zone).Format("2006-01-02 15:04:05")
	if to.IsZero() {
		return text
	}
	return from.In(zone).Format("2006-01-02 15:04") + " – " + to.In(zone).Format("01-02 15:04")
}

// auditFacts say what was compared with what.
func (s *site) auditFacts(l language, held *heldAudit) []fact {
	r, b := held.result, lister{l: l}
	for _, f := range r.Files {
		b.have("audit.file", plain(f.Name, nameRunes), l.say("audit.file.aside", f.Source, countOf(f.Rows)))
	}
	b.have("audit.upstream", plain(held.upstream, nameRunes), "")
	if !r.Console.From.IsZero() {
		b.put("audit.console", s.span(r.Console.From, r.Console.To), "")
	}
	if !r.Log.From.IsZero() {
		b.put("audit.log", s.span(r.Log.From, r.Log.To), "")
	}
	if z := r.Zone; z != nil {
		aside := ""
		if z.Pairs > 0 {
			aside = l.say("audit.zone.aside", countOf(z.Pairs), strconv.Itoa(int(100*z.Share)))
		}
		b.put("audit.zone", audit.ZoneName(z.Used), aside)
	}
	if c := r.Clock; c != nil {
		b.put("audit.clock", clockWords(l, c), l.say("audit.clock.aside", countOf(c.Pairs), lasting(c.JitterMS)))
	}
	for _, c := range r.Conventions {
		b.put("audit.convention", c.Say.In(string(l)), plain(c.Model, nameRunes))
	}
	return b.Facts
}

func clockWords(l language, c *audit.Clock) string {
	switch {
	case c.OffsetMS > 0:
		return l.say("audit.clock.ahead", lasting(c.OffsetMS))
	case c.OffsetMS < 0:
		return l.say("audit.clock.behind", lasting(-c.OffsetMS))
	}
	return l.say("audit.clock.equal")
}

func lasting(ms int64) string { return figure.Duration(new(time.Duration(ms) * time.Millisecond)) }

// auditNotes are what was found out and supposed, and what could not be read.
func auditNotes(l language, r *audit.Result) []string {
	var notes []string
	for _, w := range r.Notes {
		notes = append(notes, w.In(string(l)))
	}
	for _, f := range r.Files {
		for _, w := range f.Warnings[:min(len(f.Warnings), warnedMost)] {
			place := plain(f.Name, nameRunes)
			if w.Line > 0 {
				place = l.say("audit.line", place, strconv.Itoa(w.Line))
			}
			notes = append(notes, l.say("audit.warning", place, plain(w.Say.In(string(l)), proseRunes)))
		}
	}
	return notes
}

// auditJSON answers with the whole result.
func (s *site) auditJSON(w http.ResponseWriter, r *http.Request) error {
	held, err := s.audits.find(chi.URLParam(r, "id"), s.Now())
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(held.result)
}

// auditCSV answers with every row.
func (s *site) auditCSV(w http.ResponseWriter, r *http.Request) error {
	held, err := s.audits.find(chi.URLParam(r, "id"), s.Now())
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="ttftap-audit.csv"`)
	return held.result.WriteCSV(w, string(languageOf(r)), func(id string) string {
		return strings.TrimSuffix(s.Listen, "/") + "/-/requests/" + url.PathEscape(id)
	})
}

// keepAudit puts what the console has of each exchange into the log.
func (s *site) keepAudit(w http.ResponseWriter, r *http.Request) error {
	held, err := s.audits.find(chi.URLParam(r, "id"), s.Now())
	if err != nil {
		return err
	}
	if err := s.Store.SaveConsole(r.Context(), keptRows(held.result, s.Now())); err != nil {
		return err
	}
	s.audits.keep(held)
	http.Redirect(w, r, auditURL(held.id, "", 1), http.StatusSeeOther)
	return nil
}

// keptRows are the findings of one exchange each that the console has rows of.
func keptRows(r *audit.Result, now time.Time) []store.ConsoleRow {
	var all []store.ConsoleRow
	for i := range r.Rows {
		row := &r.Rows[i]
		if len(row.Exchanges) != 1 || len(row.Lines) == 0 || !row.To.IsZero() {
			continue
		}
		k := store.ConsoleRow{
			ExchangeID: row.Exchanges[0], KeptAt: now.UTC(), Place: plain(r.Where(row), nameRunes), Class: string(row.Class),
			Model: plain(cmp.Or(row.ConsoleModel, row.Model), nameRunes), Key: plain(row.Key, nameRunes),
			Input: row.There.Input, Cached: row.There.Cached, CacheWrite: row.There.CacheWrite,
			Output: row.There.Output, Reasoning: row.There.Reasoning,
		}
		if len(row.Money) == 1 {
			k.Amount, k.Currency, k.MoneyKind = row.Money[0].Amount, plain(row.Money[0].Currency, nameRunes), string(row.Money[0].Kind)
		}
		all = append(all, k)
	}
	return all
}
