package audit

import (
	"strings"
	"time"
)

// Verdict is what a comparison found, as a whole.
type Verdict string

// The verdicts.
const (
	Clean         Verdict = "clean"          // all is matched, or explained
	Differences   Verdict = "differences"    //
	CannotCompare Verdict = "cannot_compare" // no common time, nothing that belongs together, or an open zone
)

// Result is what came of a comparison.
type Result struct {
	Verdict     Verdict      `json:"verdict"`
	Say         Words        `json:"say"` // the verdict in one sentence
	Files       []FileNote   `json:"files"`
	Log         Span         `json:"log"`     // what the log covers
	Console     Span         `json:"console"` // what the files cover
	Clock       *Clock       `json:"clock"`   // nil where no pair could tell
	Zone        *Zone        `json:"zone"`    // nil where every file states its offset
	Conventions []Convention `json:"conventions"`
	Notes       []Words      `json:"notes"` // what else was found out and supposed
	Totals      Totals       `json:"totals"`
	Counts      []Tally      `json:"classes"`
	Rows        []Row        `json:"rows"` // by time
}

// FileNote says what was read.
type FileNote struct {
	Name     string    `json:"name"`
	Source   string    `json:"source"`
	Rows     int       `json:"rows"`
	Warnings []Warning `json:"warnings"`
}

// Span is a half-open stretch of time; both ends are zero where there is none.
type Span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Clock is how the console's clock goes against the log's.
type Clock struct {
	OffsetMS int64 `json:"offset_ms"` // the console's minus the log's
	JitterMS int64 `json:"jitter_ms"` // the median distance from that
	Pairs    int   `json:"pairs"`     // that it was found by
}

// Zone says at which offset from UTC the times without one were read.
type Zone struct {
	Chosen int     `json:"chosen_minutes"` // east of UTC, as given
	Found  int     `json:"found_minutes"`  // as the rows show it; Chosen where they do not say otherwise
	Pairs  int     `json:"pairs"`          // that could show it
	Share  float64 `json:"share"`          // of those, how many fit Found
	Used   int     `json:"used_minutes"`
}

// Convention says how a console was found to count, where it is not as the log.
type Convention struct {
	Model string `json:"model"` // "" for all that are not named
	Say   Words  `json:"say"`
	Pairs int    `json:"pairs"` // that fit
}

// Totals are the sums over all rows that were compared, on both sides.
type Totals struct {
	Exchanges   int      `json:"exchanges"`
	ConsoleRows int      `json:"console_rows"`
	Here        Counts   `json:"here"`
	There       Counts   `json:"there"`
	Money       []Amount `json:"money"` // by currency and kind
}

// Amount is a sum of money as text, so that no digit of it is lost.
type Amount struct {
	Amount   string    `json:"amount"`
	Currency string    `json:"currency"`
	Kind     MoneyKind `json:"kind"`
}

// Sums are amounts in one text: "1.20 USD + 3 CNY"; "" where there is none.
func Sums(all []Amount) string {
	var parts []string
	for _, a := range all {
		parts = append(parts, strings.TrimSpace(a.Amount+" "+a.Currency))
	}
	return strings.Join(parts, " + ")
}

// Tally is how much is of one class.
type Tally struct {
	Class       Class    `json:"class"`
	Say         Words    `json:"say"`
	Rows        int      `json:"rows"`
	Differences int      `json:"differences"` // of the rows, those that count as one
	Exchanges   int      `json:"exchanges"`
	ConsoleRows int      `json:"console_rows"`
	Here        Counts   `json:"here"`
	There       Counts   `json:"there"`
	Money       []Amount `json:"money"`
}

// Row is one finding: a pair, a group, or what one side alone has.
type Row struct {
	Class        Class     `json:"class"`
	Differs      bool      `json:"differs"` // whether it counts as a difference
	Time         time.Time `json:"time"`    // of the exchange's start, else the console's; zero if unknown
	To           time.Time `json:"to"`      // the end of a bucket; zero otherwise
	Model        string    `json:"model"`
	ConsoleModel string    `json:"console_model"` // as the console names it; "" where it has no row
	Key          string    `json:"key"`           // as the console names it
	By           string    `json:"by"`            // "id", "tokens" or "sum"; "" where nothing was matched
	Exchanges    []string  `json:"exchanges"`
	Lines        []Place   `json:"lines"`
	Here         Counts    `json:"here"`
	There        Counts    `json:"there"` // as the log counts
	Requests     *Requests `json:"requests"`
	Money        []Amount  `json:"money"`
	Reasons      []Words   `json:"reasons"`

	purse purse
}

// Place is where a console's row stands.
type Place struct {
	File int `json:"file"` // its index in Files
	Line int `json:"line"`
}

// Requests are how many a bucket has on both sides.
type Requests struct {
	Here  int64  `json:"here"`
	There *int64 `json:"there"` // nil where the console does not say
}
