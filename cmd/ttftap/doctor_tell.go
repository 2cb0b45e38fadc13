package main

import (
	"fmt"
	"io"
	"time"

	"github.com/ttftap/ttftap/proxy/doctor"
)

// diagnosed is what doctor says.
type diagnosed struct {
	Upstream  string           `json:"upstream"`
	Requests  []doctor.Request `json:"requests"` // that may have been made
	Findings  []doctor.Finding `json:"findings"`
	Fix       *fixed           `json:"fix,omitempty"` // nil: nothing was changed
	Change    int              `json:"change"`        // findings by which something must still change
	Unchecked int              `json:"unchecked"`
	Summary   string           `json:"summary"`
}

// fixed is what was changed in a file.
type fixed struct {
	File   string          `json:"file"`
	Backup string          `json:"backup"`
	Lines  []doctor.Edited `json:"lines"`
}

// fix makes the edits of all findings at once.
func (d *diagnosed) fix(file *doctor.Config, now time.Time) error {
	var edits []doctor.Edit
	for i := range d.Findings {
		f := &d.Findings[i]
		f.Fixed = f.State == doctor.Change && len(f.Edits) > 0
		if f.Fixed {
			edits = append(edits, f.Edits...)
		}
	}
	if len(edits) == 0 {
		return nil
	}
	lines, backup, err := file.Fix(edits, now)
	if err != nil {
		return err
	}
	d.Fix = &fixed{file.Path, backup, lines}
	return nil
}

// conclude counts and sums up.
func (d *diagnosed) conclude() {
	first := ""
	for _, f := range d.Findings {
		switch {
		case f.State == doctor.Change && !f.Fixed:
			d.Change++
			if first == "" {
				first = f.Check
			}
		case f.State == doctor.Unchecked:
			d.Unchecked++
		}
	}
	left := ""
	if d.Unchecked > 0 {
		left = fmt.Sprintf("; %s could not be checked", plural(int64(d.Unchecked), "thing"))
	}
	switch {
	case d.Change > 0:
		d.Summary = fmt.Sprintf("%s must change, first of all: %s%s.", plural(int64(d.Change), "thing"), first, left)
	case d.Fix != nil:
		d.Summary = "What had to change has been changed: run ttftap doctor again to see" + left + "."
	case d.Unchecked > 0:
		d.Summary = "Nothing must change" + left + "."
	default:
		d.Summary = "All is well: " + d.Upstream + " answers, streams as it generates and tells its tokens; nothing must change."
	}
}

// write writes as JSON, or as told.
func (d *diagnosed) write(w io.Writer, asJSON bool, tell func(io.Writer)) error {
	if asJSON {
		return writeIndented(w, d)
	}
	tell(w)
	return nil
}

// list lists the requests.
func (d *diagnosed) list(w io.Writer) {
	tokens, when := 0, ""
	for _, r := range d.Requests {
		if r.When == "" {
			tokens += r.Tokens
		}
	}
	fmt.Fprintf(w, "Requests to make, for about %d tokens at most:\n", tokens)
	for _, r := range d.Requests {
		indent := "  "
		if r.When != "" {
			indent = "    "
			if r.When != when {
				fmt.Fprintf(w, "  only %s:\n", r.When)
			}
		}
		when = r.When
		fmt.Fprintf(w, "%s%-4s %s  (%s)\n", indent, r.Method, r.URL, r.What)
	}
	fmt.Fprintln(w)
}

// stateWords are the states, in a column of one width.
var stateWords = map[doctor.State]string{
	doctor.OK:        "ok",
	doctor.Change:    "change this",
	doctor.Unchecked: "could not be checked",
}

// tell prints a line a check, with the cure below it.
func (d *diagnosed) tell(w io.Writer) {
	for _, f := range d.Findings {
		state := stateWords[f.State]
		if f.Fixed {
			state = "changed"
		}
		fmt.Fprintf(w, "%-20s  %s: %s", state, f.Check, f.Words)
		if f.Line > 0 {
			fmt.Fprintf(w, " (%s, line %d)", f.File, f.Line)
		}
		fmt.Fprintln(w)
		for _, line := range f.Advice {
			fmt.Fprintf(w, "%22s  %s\n", "", line)
		}
	}
	if d.Fix != nil {
		fmt.Fprintf(w, "\n%s was changed; as it was: %s\n", d.Fix.File, d.Fix.Backup)
		for _, l := range d.Fix.Lines {
			d.difference(w, l)
		}
	}
	fmt.Fprintf(w, "\n%s\n", d.Summary)
}

func (d *diagnosed) difference(w io.Writer, l doctor.Edited) {
	fmt.Fprintf(w, "  line %d\n", l.Line)
	if l.Before != "" {
		fmt.Fprintf(w, "    - %s\n", l.Before)
	}
	if l.After != "" {
		fmt.Fprintf(w, "    + %s\n", l.After)
	}
}
