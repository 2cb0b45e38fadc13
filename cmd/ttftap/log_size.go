package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/store"
)

type sizeCommand struct {
	Quick bool   `help:"Leave out what takes up the space: to see that, the whole file has to be read."`
	JSON  bool   `name:"json" help:"Print it as JSON, all sizes in bytes."`
	DB    string `name:"db" help:"File of the log. Default: ${db}." placeholder:"PATH"`
}

// Help is what log size --help adds.
func (sizeCommand) Help() string {
	return `Counts the requests and the bytes of the log, in all and by month of UTC, and says what
the bytes are: rows, their indexes, and the sizes and hashes of the parts of prompts.
What is free is filled again before the file grows.`
}

// Run says how large the log is.
func (c *sizeCommand) Run(out *console) error {
	log, err := openLog(out, c.DB)
	if err != nil {
		return err
	}
	r, err := c.look(out, log)
	if err = errors.Join(err, log.Close()); err != nil {
		return err
	}
	if c.JSON {
		return writeIndented(out.stdout, r)
	}
	return r.write(out.stdout)
}

// sizeReport is how large a log is.
type sizeReport struct {
	Log    string     `json:"log"`
	Rows   int64      `json:"rows"`
	Open   int64      `json:"open"` // under way, or left so by a process that was killed
	Oldest *time.Time `json:"oldest"`
	Newest *time.Time `json:"newest"`

	File     int64    `json:"file_bytes"`
	WAL      int64    `json:"wal_bytes"`
	Free     int64    `json:"free_bytes"`
	BytesRow *float64 `json:"bytes_per_row"` // of the file, without what is free

	Parts  []partSize   `json:"parts"` // nil: it was not looked
	Months []monthCount `json:"months"`
}

// partSize is what one kind of content takes up.
type partSize struct {
	Part  string `json:"part"`
	Bytes int64  `json:"bytes"`
}

type monthCount struct {
	Month string `json:"month"`
	Rows  int64  `json:"rows"`
}

func (c *sizeCommand) look(out *console, log *store.Store) (*sizeReport, error) {
	z, err := log.Size(out.stop)
	if err != nil {
		return nil, err
	}
	r := &sizeReport{
		Log: log.Path(), Rows: z.Rows, Open: z.Open, Oldest: z.Oldest, Newest: z.Newest,
		File: z.File, WAL: z.WAL, Free: z.Free, Months: []monthCount{},
	}
	if z.Rows > 0 {
		r.BytesRow = new(float64(z.File-z.Free) / float64(z.Rows))
	}
	for _, m := range z.Months {
		r.Months = append(r.Months, monthCount{m.Start.Format("2006-01"), m.Rows})
	}
	if c.Quick {
		return r, nil
	}
	next := time.Now().Add(progressPause)
	trees, err := log.Trees(out.stop, func(name string) {
		if time.Now().After(next) {
			fmt.Fprintf(out.stderr, "reading %s\n", name)
		}
	})
	r.addParts(trees)
	return r, err
}

// addParts sums up trees by what they are for.
func (r *sizeReport) addParts(trees []store.Tree) {
	r.Parts = []partSize{{Part: "rows"}, {Part: "indexes"}, {Part: "prompts"}, {Part: "other"}, {Part: "free"}}
	rest := r.File - r.Free
	for _, t := range trees {
		at := 3
		switch {
		case t.Table == "prompt":
			at = 2
		case t.Table == "exchange" && t.Name == t.Table:
			at = 0
		case t.Table == "exchange":
			at = 1
		}
		r.Parts[at].Bytes += t.Bytes
		rest -= t.Bytes
	}
	r.Parts[3].Bytes += max(rest, 0) // the pages that keep account of pages
	r.Parts[4].Bytes = r.Free
}

func (r *sizeReport) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "log:\t%s\n", r.Log)
	fmt.Fprintf(t, "requests:\t%s%s\n", figure.Count(&r.Rows), r.open())
	if r.Oldest != nil && r.Newest != nil {
		fmt.Fprintf(t, "from:\t%s\n", r.Oldest.Format(toSecond+" UTC"))
		fmt.Fprintf(t, "to:\t%s\n", r.Newest.Format(toSecond+" UTC"))
	}
	fmt.Fprintf(t, "file:\t%s%s\n", inBytes(&r.File), r.each())
	fmt.Fprintf(t, "ahead of it:\t%s\n", inBytes(&r.WAL))
	if r.Parts != nil {
		fmt.Fprintln(t, "\npart\tbytes\tof all")
	}
	for _, p := range r.Parts {
		fmt.Fprintf(t, "%s\t%s\t%s\n", p.Part, inBytes(&p.Bytes), figure.Percent(float64(p.Bytes)/float64(cmp.Or(r.File, 1))))
	}
	if len(r.Months) > 0 {
		fmt.Fprintln(t, "\nmonth\trequests")
	}
	for _, m := range r.Months {
		fmt.Fprintf(t, "%s\t%s\n", m.Month, figure.Count(&m.Rows))
	}
	return t.Flush()
}

func (r *sizeReport) open() string {
	if r.Open == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them under way or never ended", figure.Count(&r.Open))
}

func (r *sizeReport) each() string {
	if r.BytesRow == nil {
		return ""
	}
	return fmt.Sprintf(", %s for each request", inBytes(new(int64(*r.BytesRow))))
}
