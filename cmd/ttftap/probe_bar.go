package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/probe"
)

// probeBar shows how far it is: on a terminal a line that changes, else a line now
// and then.
type probeBar struct {
	w        io.Writer
	terminal bool
	of       int // steps of all trials
	before   int // steps of the trials before
	trial    *probe.Trial
	done     int
	ttft     map[int][]float64 // by arm
	next     time.Time
	width    int // of what is on the line
}

const barPause = time.Minute

func newProbeBar(w io.Writer, trials []*probe.Trial) *probeBar {
	b := &probeBar{w: w, next: time.Now().Add(barPause)}
	if f, ok := w.(*os.File); ok {
		b.terminal = isTerminal(f)
	}
	for _, t := range trials {
		b.of += len(t.Steps)
	}
	return b
}

// tell shows what a request has changed.
func (b *probeBar) tell(p probe.Progress) {
	if p.Trial != b.trial {
		b.before += b.done
		b.trial, b.ttft = p.Trial, make(map[int][]float64)
	}
	b.done = p.Done
	if p.Row != nil && p.Row.FirstTokenMS != nil {
		b.ttft[p.Step.Arm] = append(b.ttft[p.Step.Arm], *p.Row.FirstTokenMS)
	}
	line := printable(fmt.Sprintf("%s %d of %d  %s  %s tokens", p.Trial.Kind, b.before+b.done, b.of, b.medians(), counted(p.Spent)))
	if b.terminal {
		b.redraw(line)
	} else if now := time.Now(); now.After(b.next) {
		b.next = now.Add(barPause)
		fmt.Fprintln(b.w, line)
	}
}

const (
	barCells = 20
	lineMost = 110 // letters; a line that is broken in two cannot be drawn again
)

func (b *probeBar) redraw(line string) {
	full := barCells * (b.before + b.done) / max(b.of, 1)
	line = "[" + strings.Repeat("#", full) + strings.Repeat(".", barCells-full) + "] " + line
	letters := []rune(line)
	letters = letters[:min(len(letters), lineMost)]
	fmt.Fprintf(b.w, "\r%s%s", string(letters), strings.Repeat(" ", max(0, b.width-len(letters))))
	b.width = len(letters)
}

// medians are those of the first token by now.
func (b *probeBar) medians() string {
	var parts []string
	for i, arm := range b.trial.Arms {
		if v := slices.Sorted(slices.Values(b.ttft[i])); len(v) > 0 {
			ms := (v[(len(v)-1)/2] + v[len(v)/2]) / 2
			parts = append(parts, arm.Name+": "+figure.Duration(new(time.Duration(ms*float64(time.Millisecond)))))
		}
	}
	return strings.Join(parts, ", ")
}

// end leaves the line.
func (b *probeBar) end() {
	if b.terminal && b.width > 0 {
		fmt.Fprintln(b.w)
	}
}
