package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

// results are what programs read of a run.
type results struct {
	Joint   *experiment.Joint    `json:"joint"` // null of a single experiment
	Reports []*experiment.Report `json:"reports"`
	Spent   int64                `json:"spent_tokens"` // those of requests that told none at their worst
}

// tell tells what was found: of several experiments first what they say together.
func (p *probing) tell(reports []*experiment.Report, spent int64) error {
	r := results{Reports: reports, Spent: spent}
	if len(p.trials) > 1 {
		r.Joint = experiment.Join(reports)
	}
	if p.JSON {
		return writeIndented(p.out.stdout, r)
	}
	var parts []string
	for _, report := range reports {
		parts = append(parts, report.Markdown(p.Lang)+"\n"+p.page(report.ID)+"\n")
	}
	if r.Joint != nil {
		parts = append(parts, r.Joint.Markdown(p.Lang)) // the last is what a terminal shows
	}
	return p.write(p.out.stdout, strings.Join(parts, "\n"))
}

// page is where a report can be seen.
func (p *probing) page(id string) string {
	path := "/-/experiments/" + id
	switch {
	case !p.via.started:
		return p.via.Base + path
	case p.DB != "":
		return "ttftap serve --db " + shellWord(p.DB) + ", then " + usualInstance + path
	}
	return "ttftap serve, then " + usualInstance + path
}

// write writes Markdown, as it is where that is asked for.
func (t *told) write(w io.Writer, markdown string) error {
	if !t.Markdown {
		markdown = terminal(markdown)
	}
	_, err := io.WriteString(w, markdown)
	return err
}

const tableRows = 20 // of a table that a terminal shows

// terminal is Markdown for a terminal: its tables in columns, and the longest not
// in full.
func terminal(markdown string) string {
	var b strings.Builder
	var table []string
	for line := range strings.Lines(markdown) {
		if strings.HasPrefix(line, "|") {
			table = append(table, strings.TrimSpace(line))
			continue
		}
		columns(&b, table)
		table = nil
		b.WriteString(unmarked(line))
	}
	columns(&b, table)
	return b.String()
}

// unmarked is a line without the marks of headings and emphasis.
func unmarked(line string) string {
	if heading := strings.TrimLeft(line, "#"); heading != line {
		line = strings.ToUpper(strings.TrimPrefix(heading, " "))
	}
	return strings.ReplaceAll(line, "**", "")
}

func columns(w io.Writer, table []string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, line := range table {
		if i == 1 { // the rule under the heads
			continue
		}
		if more := len(table) - i; i > tableRows && more > 1 {
			fmt.Fprintf(t, "  and %d more: --markdown has them all\n", more)
			break
		}
		line = strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(line, `\|`, "¦"), "|"), "|")
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "¦", "|"))
		}
		fmt.Fprintf(t, "  %s\n", strings.Join(cells, "\t"))
	}
	_ = t.Flush() // into memory
}
