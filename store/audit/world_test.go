package audit

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// world is a random log, the console that is derived from it, and what is true of
// each row.
type world struct {
	t        *rapid.T
	base     time.Time
	attempts []Attempt
	file     File
	truth    map[string][]Class // of an exchange: the classes that are right
	lines    map[int][]Class    // of a console's row
	faulty   map[string]bool    // exchanges that a fault was planted at
	badLines map[int]bool
	clock    time.Duration // the console's clock is ahead by so much
	zone     int           // minutes; its times are written without it
	habit    habit
	at       Reference
	step     time.Duration // resolution of its times
	withIDs  bool
	drawn    int // attempts so far
}

var worldModels = []string{"gpt-5-codex", "gpt-5-mini", "openai/gpt-5", "kimi-k2"}

func newWorld(t *rapid.T) *world {
	w := &world{
		t: t, base: time.Date(2026, 11, 28, 1, 0, 0, 0, time.UTC),
		truth: map[string][]Class{}, lines: map[int][]Class{}, faulty: map[string]bool{}, badLines: map[int]bool{},
	}
	w.clock = time.Duration(rapid.IntRange(-60_000, 60_000).Draw(t, "clock")) * time.Millisecond
	w.habit = habit(rapid.IntRange(0, habitCount-1).Draw(t, "habit"))
	w.at = rapid.SampledFrom([]Reference{AtStart, AtEnd}).Draw(t, "at")
	w.step = rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second}).Draw(t, "step")
	w.withIDs = rapid.Bool().Draw(t, "ids")
	w.file = File{Name: "a.csv", Source: "made", From: w.base.Add(-24 * time.Hour), To: w.base.Add(48 * time.Hour)}
	if rapid.Bool().Draw(t, "zoneless") {
		w.file.Zoneless = true
		w.zone = 15 * rapid.IntRange(-48, 56).Draw(t, "zone")
	}
	return w
}

// attempt draws one exchange that ended well.
func (w *world) attempt(start time.Time) Attempt {
	w.drawn++
	took := time.Duration(rapid.IntRange(300, 90_000).Draw(w.t, "took")) * time.Millisecond
	in := 4 * rapid.Int64Range(25, 25_000).Draw(w.t, "in")
	out := 1000*rapid.Int64Range(1, 5).Draw(w.t, "out") + 10*int64(w.drawn) // nobody else's, or chance would decide
	cached := rapid.Int64Range(0, in/2).Draw(w.t, "cached")
	written := rapid.Int64Range(0, in/4).Draw(w.t, "written")
	thought := rapid.Int64Range(0, out/2).Draw(w.t, "thought")
	a := Attempt{
		ID: fmt.Sprintf("x%04d", w.drawn), Start: start, End: start.Add(took), Upstream: "default", Key: "k1",
		Models:  []string{rapid.SampledFrom(worldModels).Draw(w.t, "model")},
		Outcome: exchange.OK, Status: new(int64(200)), Total: &took,
		Counts: Counts{&in, &cached, &written, &out, &thought},
	}
	if w.withIDs {
		a.IDs[2] = fmt.Sprintf("request-%04d", w.drawn)
	}
	return a
}

// add puts an attempt into the log.
func (w *world) add(a Attempt, right ...Class) {
	w.attempts = append(w.attempts, a)
	w.truth[a.ID] = right
}

// row is what a console that tells the truth has of an attempt.
func (w *world) row(a Attempt) Record {
	h := here{Attempt: &a}
	in, out := h.as(w.habit)
	r := Record{
		Kind: Request, At: w.at, Model: a.Models[0], Key: "laptop",
		Counts: Counts{Input: in, Cached: a.Cached, CacheWrite: a.CacheWrite, Output: out, Reasoning: a.Reasoning},
	}
	r.From, r.To = w.stamp(a)
	if a.IDs[2] != "" {
		r.IDs = []string{a.IDs[2]}
	}
	return r
}

// stamp is an attempt's time as the console tells it.
func (w *world) stamp(a Attempt) (from, to time.Time) {
	at := a.Start
	if w.at == AtEnd {
		at = a.End
	}
	from = at.Add(w.clock).Add(time.Duration(w.zone) * time.Minute).Truncate(w.step)
	return from, from.Add(w.step)
}

// bill puts a row on the console.
func (w *world) bill(r Record, right ...Class) {
	r.Line = len(w.file.Records) + 2
	w.file.Records = append(w.file.Records, r)
	w.lines[r.Line] = right
}

// compare lays them beside each other.
func (w *world) compare() *Result {
	rows := rapid.Permutation(w.file.Records).Draw(w.t, "order")
	f := w.file
	f.Records = rows
	return Compare([]File{f}, w.attempts, Options{Log: Span{w.base.Add(-24 * time.Hour), w.base.Add(48 * time.Hour)}})
}
