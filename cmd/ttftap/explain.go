package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
	"github.com/ttftap/ttftap/web"
)

type explainCommand struct {
	ID   string `arg:"" optional:"" default:"last" help:"Id of the exchange, or last."`
	JSON bool   `name:"json" help:"Print the whole row as JSON."`
	Lang string `help:"Language of the verdict and its reason: en or zh." enum:"en,zh" default:"en"`
	DB   string `name:"db" help:"File of the log. Default: ${db}." placeholder:"PATH"`
}

// Run explains one exchange.
func (c *explainCommand) Run(out *console) error {
	log, err := openLog(out, c.DB)
	if err != nil {
		return err
	}
	defer log.Close()
	x, err := log.Exchange(out.stop, c.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.ID == "last":
		return fmt.Errorf("no exchange has ended yet: point a client at ttftap first")
	case errors.Is(err, fs.ErrNotExist):
		return usagef("there is no exchange %q in %s: ids stand on the page and at the end of each line of serve", c.ID, log.Path())
	case err != nil:
		return err
	}
	if c.JSON {
		return explainJSON(out.stdout, x)
	}
	return explain(out.stdout, x, c.Lang)
}

func explainJSON(w io.Writer, x *exchange.Exchange) error {
	row, err := store.MarshalExchange(x)
	if err != nil {
		return err
	}
	var indented any
	if err := json.Unmarshal(row, &indented); err != nil {
		return err
	}
	return writeIndented(w, indented)
}

// writeIndented writes JSON for people to read, too.
func writeIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// explain writes the verdict first, then where the time went, then the rest.
func explain(w io.Writer, x *exchange.Exchange, lang string) error {
	fmt.Fprintf(w, "%s  %s  %s\n", x.StartedAt.UTC().Format(time.RFC3339), orDash(x.Model()), x.ID)
	fmt.Fprintf(w, "%s, outcome %s\n%s\n", verdict(x, lang), x.Outcome, why(x, lang))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t)
	for _, row := range spans(x) {
		if row.d != nil {
			fmt.Fprintf(t, "%s\t%s\t\n", row.name, figure.Duration(row.d))
		}
	}
	fmt.Fprintf(t, "tokens in\t%s\t (cached %s)\n", figure.Count(x.PromptTokens), figure.Count(x.CachedTokens))
	fmt.Fprintf(t, "tokens out\t%s\t (reasoning %s)\n", figure.Output(x.OutputTokens, x.EstimatedOutput), figure.Count(x.ReasoningTokens))
	fmt.Fprintf(t, "rate\t%s\t %s\n", figure.Rate(x.TokensPerSec, x.RateQuality), x.RateQuality)
	fmt.Fprintf(t, "delivery\t%s\t\n", orDash(string(x.Delivery)))
	return t.Flush()
}

// orDash is a foreign text as one word, or the dash where there is none.
func orDash(s string) string {
	if s == "" {
		return figure.Unknown
	}
	return word(s)
}

// verdict is the bound in the words of the page, with the cause as the filter
// knows it.
func verdict(x *exchange.Exchange, lang string) string {
	bound := web.BoundWord(x, lang)
	if x.Cause == "" {
		return bound
	}
	return bound + " (" + x.Cause + ")"
}

// why is what went wrong, or else the reason of the verdict.
func why(x *exchange.Exchange, lang string) string {
	if words := diagnosis.ErrorWords(x, lang); words != "" {
		return words
	}
	return diagnosis.Reason(x, lang)
}

type span struct {
	name string
	d    *time.Duration
}

// spans are where the time went, in the order in which it did.
func spans(x *exchange.Exchange) []span {
	return []span{
		{"network", x.Network}, {"headers", x.Headers}, {"first byte", x.FirstByte}, {"first token", x.FirstToken},
		{"wait", x.Wait}, {"queue", x.Queue}, {"prefill", x.Prefill}, {"hidden decode", x.HiddenDecode},
		{"decode", x.Decode}, {"total", x.End},
	}
}
