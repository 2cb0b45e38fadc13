package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"text/tabwriter"
	"text/template"
	"time"

	"github.com/ttftap/ttftap/store"
)

// summary is what a command sent while it ran, in the figures of a report.
type summary struct {
	Command string  `json:"command"` // its name alone: its arguments may hold a prompt
	Status  int     `json:"exit_status"`
	Elapsed *millis `json:"elapsed_ms"`
	Log     string  `json:"log"`
	Lost    int64   `json:"lost_records"` // that the log lacks
	*report

	usual bool // the log is the one that the other commands look into by themselves
}

//go:embed run_summary.txt
var summaryTemplate string

// tell reads what the log has of the run and writes it, for people or as JSON. No
// other process records into the log, so all that began since then is the command's.
func (s *summary) tell(ctx context.Context, w io.Writer, begun time.Time, asJSON bool) error {
	log, err := store.OpenReader(ctx, s.Log)
	if err != nil {
		return err
	}
	s.report, err = newReport(ctx, log, store.Filter{From: store.When{Time: begun}}, func() {})
	if err = errors.Join(err, log.Close()); err != nil {
		return err
	}
	if !s.usual {
		s.nameLog(s.Log)
	}
	if asJSON {
		return json.NewEncoder(w).Encode(s)
	}
	return s.write(w)
}

// Explain is how to look closer at a request.
func (s *summary) Explain(id string) string {
	if s.usual {
		return "ttftap explain " + id
	}
	return "ttftap explain " + id + " --db " + shellWord(s.Log)
}

func (s *summary) write(w io.Writer) error {
	t := template.Must(template.New("summary").Funcs(wording()).Parse(summaryTemplate))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if err := t.Execute(table, s); err != nil {
		return err
	}
	return table.Flush()
}
