package web

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/store"
)

// experimentsView is the experiments of the log, and how to run one.
type experimentsView struct {
	page
	Rows  []experimentRow // the newest first
	More  bool            // there are older ones
	Runs  []runCommand
	Token bool // the page asks for one, so that a run must have it
}

// experimentRow is one experiment in short.
type experimentRow struct {
	ID, URL   string
	When, UTC string // of its start
	Kind      string
	Model     string
	Upstream  string
	Sent      string // requests sent of those planned
	State     runState
	Verdict   template.HTML
}

// runState says how far an experiment has come.
type runState struct{ Name, Word string }

// runCommand is what runs an experiment through this instance.
type runCommand struct{ Name, Word, Text string }

// experimentsShown is how many experiments one page lists: each report is made
// anew.
const experimentsShown = 50

// experiments is the view's http.Handler.
func (s *site) experiments(w http.ResponseWriter, r *http.Request) error {
	v := experimentsView{page: s.page(w, r, "experiments.title"), Token: s.Token != ""}
	v.Runs = s.runCommands(v.Language)
	kept, err := s.Store.Experiments(r.Context(), experimentsShown+1)
	if err != nil {
		return err
	}
	v.More = len(kept) > experimentsShown
	for _, e := range kept[:min(len(kept), experimentsShown)] {
		row, err := s.experimentRow(r, v.Language, e)
		if err != nil {
			return err
		}
		v.Rows = append(v.Rows, row)
	}
	return v.render(w, http.StatusOK, "experiments", v)
}

// experimentRow tells one experiment; of one that a later version planned, that it
// cannot be read.
func (s *site) experimentRow(r *http.Request, l language, e store.Experiment) (experimentRow, error) {
	row := experimentRow{
		ID: e.ID, URL: experimentURL(e.ID), UTC: utc(e.StartedAt),
		When: e.StartedAt.In(s.Now().Location()).Format("2006-01-02 15:04:05"),
	}
	report, err := s.reportOf(r, e)
	var broken brokenPlan
	switch {
	case errors.As(err, &broken):
		row.Verdict = coded(l.say("experiments.unreadable"))
		return row, nil
	case err != nil:
		return row, err
	}
	row.Kind, row.Model, row.Upstream = report.Kind.Name().In(string(l)), l.names(report.Models), l.names(report.Upstreams)
	row.Sent = strconv.Itoa(report.Sent) + "/" + strconv.Itoa(report.Planned)
	row.State, row.Verdict = stateOf(l, report, s.Now()), l.told(report.Verdict)
	return row, nil
}

// silence is after how long an experiment that has not ended is taken for one that
// was broken off: a request may take five minutes, and be sent again.
const silence = 15 * time.Minute

// stateOf is the state of an experiment as of now. One that was killed has no end.
func stateOf(l language, report *experiment.Report, now time.Time) runState {
	name := string(report.State)
	if report.State == experiment.Running && now.Sub(lastSent(report)) > silence {
		name = "silent"
	}
	return runState{name, l.say("experiment.state." + name)}
}

// lastSent is when the last request of an experiment began, or it itself.
func lastSent(report *experiment.Report) time.Time {
	last := report.StartedAt
	for _, sample := range report.Samples {
		if sample.StartedAt.After(last) {
			last = sample.StartedAt
		}
	}
	return last
}

// runCommands are what to paste, each going through this instance.
func (s *site) runCommands(l language) []runCommand {
	second := "NAME"
	if len(s.Upstreams) > 1 {
		second = s.Upstreams[1].Name
	}
	var all []runCommand
	for _, c := range []struct{ name, rest string }{
		{"all", ""}, {"ladder", ""}, {"burst", ""}, {"cache", ""}, {"history", ""}, {"shapes", ""}, {"load", ""},
		{"models", " --model MODEL --model MODEL"}, {"direct", " --to " + second},
	} {
		all = append(all, runCommand{c.name, l.say("experiments.run." + c.name), "ttftap probe " + c.name + " --via " + s.base() + c.rest})
	}
	return all
}

// experimentURL is the address of an experiment's report, "" for what is no id of
// one.
func experimentURL(id string) string {
	if !ulidForm.MatchString(id) {
		return ""
	}
	return "/-/experiments/" + url.PathEscape(id)
}

// told is a sentence of a report in the page's language. The names in it are
// strangers'.
func (l language) told(s experiment.Sentence) template.HTML {
	return coded(plain(s.In(string(l)), proseRunes))
}

// names are models, upstreams or arms one after the other.
func (l language) names(all []string) string {
	parts := make([]string, len(all))
	for i, name := range all {
		parts[i] = plain(name, nameRunes)
	}
	return cmp.Or(strings.Join(parts, l.say("list.comma")), figure.Unknown)
}
