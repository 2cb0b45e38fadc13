package web

import (
	"errors"
	"html/template"
	"net/http"
	"strings"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

// experimentPairView is two experiments side by side.
type experimentPairView struct {
	page
	Problems []string
	Verdict  template.HTML // "" until there are two
	Sides    []pairSide
	Swap     string // address
	Says     []template.HTML
	Changes  changeTable
}

// pairSide is one of the two.
type pairSide struct {
	Letter, URL string
	Kind, Setup string
	When, UTC   string
}

// compareExperiments is the view's http.Handler.
func (s *site) compareExperiments(w http.ResponseWriter, r *http.Request) error {
	v := experimentPairView{page: s.page(w, r, "experiments.compare")}
	var pair []*experiment.Report
	status := http.StatusOK
	for _, id := range []string{strings.TrimSpace(r.URL.Query().Get("a")), strings.TrimSpace(r.URL.Query().Get("b"))} {
		report, err := s.experimentReport(r, id)
		switch {
		case id == "":
			v.Problems = append(v.Problems, v.Language.say("experiments.two"))
		case errors.Is(err, errNoSuchExperiment):
			v.Problems, status = append(v.Problems, v.Language.say("experiments.missing", plain(id, nameRunes))), http.StatusNotFound
		case err != nil:
			return err
		default:
			pair = append(pair, report)
		}
	}
	if len(pair) == 2 {
		v.fill(s, pair[0], pair[1])
	}
	return v.render(w, status, "experiment_compare", v)
}

func (v *experimentPairView) fill(s *site, a, b *experiment.Report) {
	l := v.Language
	c := experiment.Compare(lettered(a, "A"), lettered(b, "B"))
	v.Verdict = l.told(c.Verdict)
	v.Swap = experimentPairURL(b.ID, a.ID)
	for i, report := range []*experiment.Report{a, b} {
		v.Sides = append(v.Sides, pairSide{
			Letter: string(rune('A' + i)), URL: experimentURL(report.ID), Kind: report.Kind.Name().In(string(l)), Setup: reported{report, l}.setup(),
			When: report.StartedAt.In(s.Now().Location()).Format("2006-01-02 15:04:05 -07:00"), UTC: utc(report.StartedAt),
		})
	}
	for _, said := range c.Says {
		v.Says = append(v.Says, l.told(said))
	}
	v.Changes = pairedChanges(l, c.Arms)
}

// lettered is a report that is called by a letter, which can be read.
func lettered(report *experiment.Report, letter string) *experiment.Report {
	called := *report
	called.ID = letter
	return &called
}

// pairedChanges lays out the changes of the arms that both have, under their names.
func pairedChanges(l language, arms []experiment.Paired) changeTable {
	var all []experiment.Change
	for _, arm := range arms {
		for _, c := range arm.Changes {
			c.From, c.To = arm.Name, ""
			all = append(all, c)
		}
	}
	return changesOf(l, all)
}

func experimentPairURL(a, b string) string { return "/-/experiments/compare?a=" + a + "&b=" + b }
