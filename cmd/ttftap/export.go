package main

import (
	"bufio"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/ttftap/ttftap/store"
)

// filters are the page's filters as flags. The name of each is that of the
// query parameter, with hyphens.
type filters struct {
	From            string `help:"Earliest start: an RFC 3339 time, or a span before now as in --from=-2h or --from=-30d." placeholder:"TIME"`
	To              string `help:"Start before: likewise." placeholder:"TIME"`
	Upstream        string `help:"Name of the upstream." placeholder:"NAME" env:"-"`
	Model           string `help:"Model served, else asked for." placeholder:"NAME"`
	Bound           string `help:"What bound it: prefill, decode, wait, mixed, stalled, unknown." placeholder:"BOUND"`
	Cause           string `help:"Cause of the verdict, such as cache_miss." placeholder:"CAUSE"`
	Outcome         string `help:"How it ended, such as ok or client_abort." placeholder:"OUTCOME"`
	Session         string `help:"Session id." placeholder:"ID"`
	Turn            string `help:"Turn id." placeholder:"ID"`
	Client          string `help:"Beginning of the client's name." placeholder:"NAME"`
	Key             string `help:"Key id, as the log shows it." placeholder:"ID"`
	Experiment      string `help:"Experiment id." placeholder:"ID"`
	MinFirstTokenMS string `name:"min-first-token-ms" help:"First token not before this many ms." placeholder:"MS"`
	MinPromptTokens string `help:"At least this many prompt tokens." placeholder:"N"`
	MinExcessMS     string `name:"min-excess-ms" help:"At least this many ms slower than usual." placeholder:"MS"`
	Q               string `help:"Beginning of an id, or words of an error." placeholder:"TEXT"`
	Sort            string `help:"Column to sort by: time, first_token_ms, total_ms, ..." placeholder:"COLUMN"`
	Order           string `help:"asc or desc." placeholder:"ORDER"`
	Limit           string `help:"At most this many rows." placeholder:"N"`
}

// filter is the store's filter; a broken value is wrong usage.
func (f filters) filter() (store.Filter, error) {
	query := url.Values{}
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		if s := v.Field(i).String(); s != "" {
			query.Set(parameter(v.Type().Field(i)), s)
		}
	}
	got, problems := store.ParseFilter(query, time.Now())
	if len(problems) > 0 {
		p := problems[0]
		return got, usagef("--%s %q: %s", strings.ReplaceAll(p.Name, "_", "-"), p.Value, p.Reason)
	}
	return got, nil
}

// parameter is the query parameter of a flag's field.
func parameter(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return strings.ReplaceAll(name, "-", "_")
	}
	var b strings.Builder
	for i, r := range f.Name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

type exportCommand struct {
	filters
	Format string `help:"csv or jsonl." enum:"csv,jsonl" default:"csv"`
	BOM    bool   `name:"bom" help:"Begin the CSV with a byte-order mark, for Excel."`
	DB     string `name:"db" help:"File of the log. Default: ${db}." placeholder:"PATH"`
}

// Run writes the log to standard output.
func (c *exportCommand) Run(out *console) error {
	f, err := c.filter()
	if err != nil {
		return err
	}
	log, err := openLog(out, c.DB)
	if err != nil {
		return err
	}
	defer log.Close()
	w := bufio.NewWriterSize(out.stdout, 1<<16)
	if c.Format == "jsonl" {
		err = log.WriteJSONL(out.stop, w, f)
	} else {
		err = log.WriteCSV(out.stop, w, f, c.BOM)
	}
	return errors.Join(err, w.Flush())
}

// openLog opens a log for reading, beside a proxy that may be writing it.
func openLog(out *console, path string) (*store.Store, error) {
	path, err := existing(path)
	if err != nil {
		return nil, err
	}
	return store.OpenReader(out.stop, path)
}

// existing is the path of a log that is there.
func existing(path string) (string, error) {
	path = orDefault(path)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", usagef("there is no log at %s: run ttftap serve first, or name another with --db", path)
	}
	return path, nil
}
