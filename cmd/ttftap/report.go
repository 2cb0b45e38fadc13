package main

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"strings"
	"text/template"
	"time"
	"unicode"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

type reportCommand struct {
	filters
	JSON bool   `name:"json" help:"Print the figures as JSON."`
	DB   string `name:"db" help:"File of the log. Default: ${db}." placeholder:"PATH"`
}

// Help is the part of the help that tells what it rests on.
func (*reportCommand) Help() string {
	return `Writes Markdown. What is usual for a model is taken from its newest exchanges of 7
days before --to, whether or not they pass the other filters.`
}

// Run says what the log tells.
func (c *reportCommand) Run(out *console) error {
	f, err := c.filter()
	if err != nil {
		return err
	}
	log, err := openLog(out, c.DB)
	if err != nil {
		return err
	}
	r, err := newReport(out.stop, log, f, newProgress(out.stderr).step)
	if err = errors.Join(err, log.Close()); err != nil {
		return err
	}
	if c.DB != "" {
		r.nameLog(c.DB)
	}
	if c.JSON {
		return writeIndented(out.stdout, r)
	}
	return r.write(out.stdout)
}

// nameLog has the next commands look into the same log.
func (r *report) nameLog(path string) {
	for i := range r.Checks {
		if c := &r.Checks[i]; c.Next != "" {
			c.Next += " --db " + shellWord(path)
		}
	}
}

// newReport reads the log twice: for what is usual, then for what is asked for, of
// which each calls read.
func newReport(ctx context.Context, log *store.Store, f store.Filter, read func()) (*report, error) {
	book, err := learned(ctx, log, store.Filter{To: f.To, Upstream: f.Upstream, Model: f.Model, Limit: recalledRows})
	if err != nil {
		return nil, err
	}
	t := newTally(book.Baselines())
	err = log.Each(ctx, f, func(x *exchange.Exchange) error {
		t.add(x)
		read()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.report(), nil
}

//go:embed report.md
var reportTemplate string

// write renders the report as Markdown.
func (r *report) write(w io.Writer) error {
	return template.Must(template.New("report").Funcs(wording()).Parse(reportTemplate)).Execute(w, r)
}

// wording is how templates put the figures of a report.
func wording() template.FuncMap {
	return template.FuncMap{
		"ms":       func(d *millis) string { return length((*time.Duration)(d)) },
		"count":    func(n int64) string { return figure.Count(&n) },
		"requests": func(n int64) string { return plural(n, "request") },
		"tokens":   figure.Count,
		"rate":     func(v *float64) string { return figure.Rate(v, "") },
		"percent":  percent,
		"cell":     cell,
		"word":     orDash,
		"at":       func(t time.Time) string { return t.UTC().Format(toSecond) },
	}
}

// length is a duration that may be the sum of many.
func length(d *time.Duration) string {
	if d == nil || *d < 2*time.Minute {
		return figure.Duration(d)
	}
	return d.Round(time.Second).String()
}

// percent is a share, the dash where it is not known.
func percent(share *float64) string {
	if share == nil {
		return figure.Unknown
	}
	return figure.Percent(*share)
}

// cell is a foreign text within a table: no markup, and nothing that a terminal
// would obey.
func cell(s string) string {
	if s == "" {
		return figure.Unknown
	}
	s = strings.NewReplacer("|", `\|`, "[", `\[`, "\n", " ", "\r", " ", "<", "&lt;", "`", "'").Replace(s)
	return printable(s)
}

// printable is a foreign text in one line, without what a terminal would obey.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
