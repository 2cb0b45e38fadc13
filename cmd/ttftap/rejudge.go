package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/store"
)

type rejudgeCommand struct {
	filters
	DryRun bool   `help:"Only say what would change. Works beside a proxy that records."`
	JSON   bool   `name:"json" help:"Print what changed as JSON."`
	DB     string `name:"db" help:"File of the log. Default: ${db}." placeholder:"PATH"`
}

// Help is the part of the help that tells how.
func (*rejudgeCommand) Help() string {
	return `Goes through the whole log in the order of time, as the proxy did, so that each
exchange is judged by what was usual for its model by then. The filters choose whose
verdicts are made anew; the others are only learned from.`
}

// Run judges the log anew.
func (c *rejudgeCommand) Run(out *console) error {
	if c.Sort != "" || c.Order != "" || c.Limit != "" {
		return usagef("rejudge goes through the log in the order of time: leave out --sort, --order and --limit")
	}
	f, err := c.filter()
	if err != nil {
		return err
	}
	log, err := c.open(out)
	if err != nil {
		return err
	}
	r := &replay{log: log, save: !c.DryRun, progress: newProgress(out.stderr)}
	result, err := r.run(out.stop, f)
	if err = errors.Join(err, log.Close()); err != nil {
		return err
	}
	if c.JSON {
		return writeIndented(out.stdout, result)
	}
	return result.write(out.stdout, c.DryRun)
}

// open opens the log to write to it, which is refused while a proxy records into
// it; for a dry run, to read it.
func (c *rejudgeCommand) open(out *console) (*store.Store, error) {
	if c.DryRun {
		return openLog(out, c.DB)
	}
	path, err := existing(c.DB)
	if err != nil {
		return nil, err
	}
	return store.Open(out.stop, path)
}

// rejudged is what a replay came to.
type rejudged struct {
	Judged    int64    `json:"judged"`
	Changed   int64    `json:"changed"`   // verdicts: bound or cause
	Refigured int64    `json:"refigured"` // the verdict stands, but a figure or the reason changed
	Changes   []change `json:"changes"`   // the most frequent first
}

// change is what became of so many verdicts.
type change struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Count int64  `json:"count"`
}

func (r *rejudged) write(w io.Writer, dry bool) error {
	verb := "changed"
	if dry {
		verb = "would change"
	}
	fmt.Fprintf(w, "%s judged: %s %s, and the figures or words of %s more\n",
		figure.Count(&r.Judged), plural(r.Changed, "verdict"), verb, figure.Count(&r.Refigured))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range r.Changes {
		fmt.Fprintf(t, "%s\tto %s\t%s\n", c.From, c.To, figure.Count(&c.Count))
	}
	return t.Flush()
}
