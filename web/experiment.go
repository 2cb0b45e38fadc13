package web

import (
	"html/template"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

// experimentView is what one experiment has found by now.
type experimentView struct {
	page
	Kind     string
	When     string // of its start
	UTC      string
	Until    string // of its end; "" before it
	UntilUTC string
	State    runState
	Refresh  *refresh // nil once it has ended
	Verdict  template.HTML
	Setup    string
	Arms     []armLine
	Result   armTable
	Changes  changeTable
	Strips   []chart
	Line     *chart // nil for a kind without one
	Lines    []lineRow
	Parts    partList
	Spikes   spikeList
	Says     []template.HTML
	Checks   []trustCheck
	Failures []failureRow
	IDs      idTable
	Command  string
	Rows     string // addresses, as the next
	Markdown string
	JSON     string
	CSV      string
}

// trustCheck is a reason to trust the report, or not to.
type trustCheck struct {
	Fine  bool
	Words template.HTML
}

// experimentPage is the view's http.Handler.
func (s *site) experimentPage(w http.ResponseWriter, r *http.Request) error {
	position := s.hub.position() // before anything is read: what comes meanwhile is told of then
	report, err := s.experimentReport(r, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	v := experimentView{page: s.page(w, r, "experiment.title")}
	v.fill(s, report)
	if v.State.Name == string(experiment.Running) {
		v.Refresh = refreshing(w, r, experimentURL(report.ID))
		if report.Sent >= report.Planned { // its end, of which no event tells, is near
			w.Header().Set("Refresh", refreshEvery)
		}
		v.Live, v.Reload = liveURL(query{"experiment": {report.ID}}, v.Language, scale{}, position), "finished"
	}
	return v.render(w, http.StatusOK, "experiment", v)
}

// experimentMarkdown is the http.Handler of the report as a file.
func (s *site) experimentMarkdown(w http.ResponseWriter, r *http.Request) error {
	report, err := s.experimentReport(r, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/markdown; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="experiment-`+report.ID+`.md"`)
	_, _ = io.WriteString(w, report.Markdown(string(languageOf(r)))) // a reader who has left misses nothing
	return nil
}

func (v *experimentView) fill(s *site, report *experiment.Report) {
	l, zone := v.Language, s.Now().Location()
	e := reported{report, l}
	v.Kind, v.Verdict, v.Setup = report.Kind.Name().In(string(l)), l.told(report.Verdict), e.setup()
	v.Title = l.list([]string{v.Kind, l.names(report.Models)})
	v.When, v.UTC = report.StartedAt.In(zone).Format("2006-01-02 15:04:05 -07:00"), utc(report.StartedAt)
	if report.EndedAt != nil {
		v.Until, v.UntilUTC = report.EndedAt.In(zone).Format("15:04:05"), utc(*report.EndedAt)
	}
	v.State = stateOf(l, report, s.Now())
	v.Arms, v.Result, v.Failures = e.arms(), e.result(), e.failures()
	v.Changes = changesOf(l, report.Changes)
	cv := canvas{l: l, q: query{"experiment": {report.ID}}, now: s.Now()}
	v.Strips, v.Line, v.Lines = e.strips(cv), e.lineChart(cv), e.lines()
	v.Parts, v.Spikes, v.IDs = e.parts(), e.spikes(), e.ids(zone)
	for _, said := range report.Says {
		v.Says = append(v.Says, l.told(said))
	}
	for _, check := range report.Checks {
		v.Checks = append(v.Checks, trustCheck{check.Fine, l.told(check.Sentence)})
	}
	v.link(report)
}

// link makes the addresses around the report.
func (v *experimentView) link(report *experiment.Report) {
	q := query{"experiment": {report.ID}}
	v.Command = plain(report.Command, proseRunes)
	v.Rows, v.CSV = q.with(), q.export("/-/export.csv")
	v.Markdown = experimentURL(report.ID) + "/report.md?lang=" + string(v.Language)
	v.JSON = "/-/api/experiments/" + report.ID
}

// reported is a report that is told in a language.
type reported struct {
	*experiment.Report
	l language
}

// setup says what was asked of whom.
func (e reported) setup() string {
	parts := []string{e.l.say("experiment.through", e.l.names(e.Models), e.l.names(e.Upstreams)), plain(e.Wire, nameRunes)}
	if e.Rounds > 0 {
		parts = append(parts, e.l.number("experiment.rounds", int64(e.Rounds)))
	}
	return e.l.list(append(parts, e.l.say("experiment.sent", strconv.Itoa(e.Sent), strconv.Itoa(e.Planned))))
}

// name is that of the arm at a place.
func (e reported) name(arm int) string { return plain(e.Arms[arm].Name, nameRunes) }

// clock is when a request began.
func clock(t time.Time, zone *time.Location) string { return t.In(zone).Format("15:04:05") }
