package audit

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// made is an attempt at a second after noon, and the row of a console that tells
// the truth about it.
func made(id string, at int, in, out int64) (Attempt, Record) {
	start := noon.Add(time.Duration(at) * time.Second)
	a := Attempt{
		ID: id, Start: start, End: start.Add(4 * time.Second), Upstream: "default", Key: "k", Models: []string{"gpt-5"},
		Outcome: exchange.OK, Status: new(int64(200)), Counts: Counts{Input: &in, Output: &out}, TTFT: new(time.Second),
	}
	r := Record{
		Line: at + 2, Kind: Request, From: a.End, To: a.End.Add(time.Second), At: AtEnd, Model: "gpt-5",
		Counts: Counts{Input: &in, Output: &out},
	}
	return a, r
}

// pairs are n attempts a minute apart, with their rows.
func pairsOf(n int) (attempts []Attempt, rows []Record) {
	for i := range n {
		a, r := made("pair-"+string(rune('a'+i)), 60*i, int64(1000+i), int64(100+i))
		attempts, rows = append(attempts, a), append(rows, r)
	}
	return attempts, rows
}

var wholeDay = Span{noon.Add(-12 * time.Hour), noon.Add(12 * time.Hour)}

func laidBeside(rows []Record, attempts []Attempt, o Options) *Result {
	if o.Log.isZero() {
		o.Log = wholeDay
	}
	return Compare([]File{{Name: "a.csv", From: wholeDay.From, To: wholeDay.To, Records: rows}}, attempts, o)
}

// classesOf is the class of each exchange and, as "-", of the rows without one.
func classesOf(r *Result) map[string]Class {
	of := make(map[string]Class)
	for _, row := range r.Rows {
		for _, id := range row.Exchanges {
			of[id] = row.Class
		}
		if len(row.Exchanges) == 0 {
			of["-"] = row.Class
		}
	}
	return of
}

// Each case is three pairs that are right, one attempt x and one row y.
func TestOnePairIsClassedByWhatIsWrongWithIt(t *testing.T) {
	tests := map[string]struct {
		change func(x *Attempt, y *Record)
		want   Class
	}{
		"nothing":                 {func(*Attempt, *Record) {}, Matched},
		"output by one":           {func(_ *Attempt, y *Record) { y.Output = new(*y.Output + 1) }, TokensDiffer},
		"input by half":           {func(_ *Attempt, y *Record) { y.Input = new(*y.Input / 2) }, TokensDiffer},
		"both a little":           {func(_ *Attempt, y *Record) { y.Input, y.Output = new(*y.Input+40), new(*y.Output+4) }, TokensDiffer},
		"estimated, within":       {func(_ *Attempt, y *Record) { y.Estimated, y.Input = true, new(*y.Input+40) }, MatchedNear},
		"estimated, beyond":       {func(_ *Attempt, y *Record) { y.Estimated, y.Input = true, new(*y.Input+400) }, TokensDiffer},
		"no counts there":         {func(_ *Attempt, y *Record) { y.Counts = Counts{} }, MatchedNear},
		"cached by some":          {func(x *Attempt, y *Record) { x.Cached, y.Cached = new(int64(512)), new(int64(256)) }, TokensDiffer},
		"cached not stated":       {func(x *Attempt, y *Record) { x.Cached = new(int64(512)) }, Matched},
		"no usage here":           {func(x *Attempt, _ *Record) { x.Counts = Counts{} }, UsageMissing},
		"cut here":                {func(x *Attempt, _ *Record) { x.Outcome, x.Counts = exchange.UpstreamCut, Counts{} }, FailedBilled},
		"cancelled here":          {func(x *Attempt, _ *Record) { x.Outcome, x.Counts = exchange.ClientAbort, Counts{} }, AbortedBilled},
		"given up before a token": {func(x *Attempt, _ *Record) { x.Outcome, x.Counts, x.TTFT = exchange.ClientAbort, Counts{}, nil }, FailedBilled},
		"failed on both sides": {func(x *Attempt, y *Record) {
			*x = bare(*x, exchange.UpstreamError)
			y.Failed, y.Counts = true, Counts{}
		}, FailedNotBilled},
		"failed there alone, by ids": {func(x *Attempt, y *Record) {
			y.Failed, y.Counts = true, Counts{}
			x.IDs[0], y.IDs = "req_12345678", []string{"REQ_12345678"}
		}, TokensDiffer},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			attempts, rows := pairsOf(3)
			x, y := made("x", 600, 5000, 400)
			tt.change(&x, &y)
			r := laidBeside(append(rows, y), append(attempts, x), Options{})
			want := map[string]Class{"pair-a": Matched, "pair-b": Matched, "pair-c": Matched, "x": tt.want}
			if diff := cmp.Diff(want, classesOf(r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARequestTurnedAwayIsNotHeldAgainstARowOfSomebodyElse(t *testing.T) {
	attempts, rows := pairsOf(3)
	x, y := made("x", 600, 5000, 400)
	x = bare(x, exchange.UpstreamError)
	x.Status = new(int64(429))
	got := classesOf(laidBeside(append(rows, y), append(attempts, x), Options{}))
	if got["x"] != FailedNotBilled || got["-"] != OnlyConsole {
		t.Errorf("%v", got)
	}
}

func TestWhatTheOtherSideDoesNotCoverIsNotMissed(t *testing.T) {
	attempts, rows := pairsOf(3)
	x, y := made("x", 600, 5000, 400)
	y.From, y.To = y.From.Add(time.Hour), y.To.Add(time.Hour)
	for name, tt := range map[string]struct {
		log, file Span
		here      Class
		there     Class
	}{
		"both":                 {wholeDay, wholeDay, OnlyLocal, OnlyConsole},
		"the file ends early":  {wholeDay, Span{wholeDay.From, noon.Add(11 * time.Minute)}, OutOfScope, OnlyConsole},
		"the log ends early":   {Span{wholeDay.From, noon.Add(62 * time.Minute)}, wholeDay, OnlyLocal, OutOfScope},
		"the log begins later": {Span{noon.Add(-time.Minute), noon.Add(80 * time.Minute)}, wholeDay, OnlyLocal, OnlyConsole},
	} {
		t.Run(name, func(t *testing.T) {
			files := []File{{From: tt.file.From, To: tt.file.To, Records: append(rows[:3:3], y)}}
			if tt.file.To.Before(y.To) {
				files[0].Records = rows
			}
			got := classesOf(Compare(files, append(attempts[:3:3], x), Options{Log: tt.log}))
			if got["x"] != tt.here || len(files[0].Records) > 3 && got["-"] != tt.there {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestTheZoneThatTheUserChoseIsNotSetAsideButDoubted(t *testing.T) {
	attempts, rows := pairsOf(4)
	for i := range rows {
		rows[i].From, rows[i].To = rows[i].From.Add(8*time.Hour), rows[i].To.Add(8*time.Hour)
	}
	f := []File{{Zoneless: true, Records: rows}}
	if r := Compare(f, attempts, Options{Log: wholeDay}); r.Verdict != Clean || r.Zone.Used != 480 || r.Zone.Chosen != 0 {
		t.Errorf("%s, zone %+v", r.Say.En, r.Zone)
	}
	r := Compare(f, attempts, Options{Log: wholeDay, ZoneFixed: true})
	if r.Verdict != CannotCompare || r.Say.En != "Cannot compare: this file looks like UTC+8, you chose UTC." {
		t.Errorf("%s", r.Say.En)
	}
}

func TestOthersOnTheKeyAreNoDifferenceWhereTheUserSaysSo(t *testing.T) {
	attempts, rows := pairsOf(3)
	_, y := made("", 600, 5000, 400)
	rows = append(rows, y)
	if r := laidBeside(rows, attempts, Options{}); r.Verdict != Differences {
		t.Errorf("%s", r.Say.En)
	}
	if r := laidBeside(rows, attempts, Options{Shared: true}); r.Verdict != Clean || classesOf(r)["-"] != OnlyConsole {
		t.Errorf("%s", r.Say.En)
	}
}

func TestAPriceIsComparedOnlyWhereTheTokensAreEqual(t *testing.T) {
	attempts, rows := pairsOf(3)
	price := Price{Model: "gpt-5", Currency: "USD", Input: 2_000_000_000, Cached: 0, Output: 8_000_000_000}
	for i := range rows {
		due := *rows[i].Input*2000 + *rows[i].Output*8000
		rows[i].Money = &Money{Nano: due, Currency: "USD", Kind: Billed}
	}
	if r := laidBeside(rows, attempts, Options{Prices: []Price{price}}); r.Verdict != Clean {
		t.Fatalf("%s", r.Say.En)
	}
	rows[1].Money.Nano *= 2
	rows[2].Output = new(*rows[2].Output + 1)
	rows[2].Money.Nano *= 2
	want := map[string]Class{"pair-a": Matched, "pair-b": CostDiffers, "pair-c": TokensDiffer}
	if diff := cmp.Diff(want, classesOf(laidBeside(rows, attempts, Options{Prices: []Price{price}}))); diff != "" {
		t.Error(diff)
	}
}

func TestPagesThatOverlapAreOneFile(t *testing.T) {
	attempts, rows := pairsOf(5)
	files := []File{{Records: rows[:3]}, {Records: rows[2:]}}
	if r := Compare(files, attempts, Options{Log: wholeDay}); r.Verdict != Clean || r.Totals.ConsoleRows != 5 {
		t.Errorf("%s", r.Say.En)
	}
}

func TestTwoFilesThatHaveNothingInCommonAccuseNobody(t *testing.T) {
	attempts, _ := pairsOf(4)
	var rows []Record
	for i := range 4 {
		_, r := made("", 1000+60*i, int64(90_000+9*i), int64(7000+7*i))
		rows = append(rows, r)
	}
	r := laidBeside(rows, attempts, Options{})
	if r.Verdict != CannotCompare {
		t.Errorf("%s", r.Say.En)
	}
	for _, row := range r.Rows {
		if row.Differs {
			t.Errorf("%v is accused", row)
		}
	}
}

func TestModelsAreNotOneForBeginningAlike(t *testing.T) {
	n := newNames([]Alias{{Here: "fast", There: "gpt-5-mini"}})
	for _, tt := range []struct {
		here, there string
		want        float64
	}{
		{"gpt-5", "gpt-5", 0},
		{"gpt-5", "gpt-5-mini", otherwise},
		{"gpt-5", "openai/GPT-5", 0},
		{"openai/gpt-5", "openai/gpt-5-2025-08-07", aliasCost},
		{"gpt-5-2025-01-01", "gpt-5-2025-08-07", otherwise},
		{"moonshotai/kimi-k2", "moonshotai/kimi-k2-0905", aliasCost},
		{"claude-haiku-4-5", "Claude Haiku 4.5", aliasCost},
		{"fast", "gpt-5-mini", aliasCost},
		{"gpt-4-1106", "gpt-4-0613", otherwise},
	} {
		if got := n.cost(n.label([]string{tt.here}), n.label([]string{tt.there})); got != tt.want {
			t.Errorf("%s and %s cost %v, want %v", tt.here, tt.there, got, tt.want)
		}
	}
}

// cheapestWay tries every way.
func cheapestWay(cost [][]float64, row int, used map[int]bool) float64 {
	if row == len(cost) {
		return 0
	}
	best := 2*alone + cheapestWay(cost, row+1, used)
	for j, n := range cost[row] {
		if !used[j] && !math.IsInf(n, 1) {
			used[j] = true
			best = min(best, n+cheapestWay(cost, row+1, used))
			delete(used, j)
		}
	}
	return best
}

func TestAssignmentIsTheCheapestOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "cols")
		cost := make([][]float64, rows)
		for i := range cost {
			cost[i] = make([]float64, cols)
			for j := range cost[i] {
				cost[i][j] = float64(rapid.IntRange(0, 40).Draw(t, "cost")) / 4
				if cost[i][j] == 10 {
					cost[i][j] = math.Inf(1)
				}
			}
		}
		got, taken := 0.0, make(map[int]bool)
		for i, j := range assign(cost) {
			if j < 0 {
				got += 2 * alone
				continue
			}
			if taken[j] {
				t.Fatalf("column %d is given twice", j)
			}
			taken[j] = true
			got += cost[i][j]
		}
		if want := cheapestWay(cost, 0, map[int]bool{}); math.Abs(got-want) > 1e-9 {
			t.Fatalf("costs %v, the cheapest %v", got, want)
		}
	})
}

// Ids of a kind that is known to be the console's own tell two requests apart
// that look the same in everything else.
func TestOtherIDsAreOtherRequests(t *testing.T) {
	attempts, rows := pairsOf(3)
	for i := range attempts {
		attempts[i].IDs[2] = "request-000" + string(rune('a'+i))
		rows[i].IDs = []string{attempts[i].IDs[2]}
	}
	x, y := made("x", 600, 5000, 400)
	x.IDs[2], y.IDs = "request-of-x", []string{"request-of-y"}
	got := classesOf(laidBeside(append(rows, y), append(attempts, x), Options{}))
	if got["x"] != OnlyLocal || got["-"] != OnlyConsole {
		t.Errorf("%v", got)
	}
	x.IDs[2] = ""
	if got := classesOf(laidBeside(append(rows, y), append(attempts, x), Options{})); got["x"] != Matched {
		t.Errorf("one of them has no id: %v", got)
	}
}

// A row that came minutes after a request was cut may be its own, or anybody's.
func TestARowLongAfterACutIsNotLaidToIt(t *testing.T) {
	attempts, rows := pairsOf(3)
	x, y := made("x", 600, 5000, 400)
	x = bare(x, exchange.ClientAbort)
	x.TTFT = new(time.Second)
	y.From, y.To = y.From.Add(3*time.Minute), y.To.Add(3*time.Minute)
	if got := classesOf(laidBeside(append(rows, y), append(attempts, x), Options{})); got["x"] != Ambiguous {
		t.Errorf("nothing but the order in time: %v", got)
	}
	y.Total = new(3*time.Minute + 4*time.Second)
	if got := classesOf(laidBeside(append(rows, y), append(attempts, x), Options{})); got["x"] != AbortedBilled {
		t.Errorf("it began when x did: %v", got)
	}
}

func TestARowThatCannotBeReadIsNotSaidToBeMissing(t *testing.T) {
	attempts, rows := pairsOf(5)
	for i := range attempts {
		attempts[i].IDs[2] = "gateway-" + attempts[i].ID
		rows[i].IDs = []string{attempts[i].IDs[2]}
	}
	tests := map[string]struct {
		unread Record
		want   Class
	}{
		"its id":               {Record{IDs: rows[2].IDs}, OutOfScope},
		"its time":             {Record{From: rows[2].From, To: rows[2].To, Model: "gpt-5"}, OutOfScope},
		"another time":         {Record{From: rows[4].From, To: rows[4].To}, OnlyLocal},
		"another's id":         {Record{IDs: []string{"gateway-of-others"}, From: rows[2].From, To: rows[2].To}, OnlyLocal},
		"another model's time": {Record{From: rows[2].From, To: rows[2].To, Model: "gpt-5-mini"}, OnlyLocal},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.unread.Kind, tt.unread.At = Request, AtEnd
			f := File{From: wholeDay.From, To: wholeDay.To, Records: append(rows[:2:2], rows[3:]...), Unread: []Record{tt.unread}}
			if got := classesOf(Compare([]File{f}, attempts, Options{Log: wholeDay}))["pair-c"]; got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestAFileInWhichSummerTimeEndsAccusesNobody(t *testing.T) {
	attempts, rows := pairsOf(20)
	for i := range rows {
		by := 2 * time.Hour
		if i >= 17 {
			by = time.Hour
		}
		rows[i].From, rows[i].To = rows[i].From.Add(by), rows[i].To.Add(by)
	}
	r := Compare([]File{{Zoneless: true, Records: rows}}, attempts, Options{Log: wholeDay})
	if r.Verdict != CannotCompare || r.Zone.Used != 120 {
		t.Errorf("%s, zone %+v", r.Say.En, r.Zone)
	}
}

func TestARowThatAFileHasTwiceIsOneIfItHasAnID(t *testing.T) {
	attempts, rows := pairsOf(4)
	for i := range rows {
		attempts[i].IDs[2] = "gateway-" + attempts[i].ID
		rows[i].IDs = []string{attempts[i].IDs[2]}
	}
	twice := append(rows[:3:3], rows[1:]...)
	if r := laidBeside(twice, attempts, Options{}); r.Verdict != Clean || r.Totals.ConsoleRows != 4 {
		t.Errorf("%s", r.Say.En)
	}
	twice[3].From, twice[3].To = twice[3].From.Add(time.Second), twice[3].To.Add(time.Second)
	if r := laidBeside(twice, attempts, Options{}); r.Verdict != Differences {
		t.Errorf("billed twice: %s", r.Say.En)
	}
}

func TestAFewRowsOfAZoneThatNobodySaidAccuseNobody(t *testing.T) {
	attempts, rows := pairsOf(4)
	_, own := pairsOf(4)
	for i := range rows {
		rows[i].From, rows[i].To = rows[i].From.Add(8*time.Hour), rows[i].To.Add(8*time.Hour)
	}
	f := []File{{Zoneless: true, Records: rows[1:3]}}
	if r := Compare(f, attempts, Options{Log: wholeDay}); r.Verdict != CannotCompare {
		t.Errorf("%s", r.Say.En)
	}
	same := []File{{Zoneless: true, Records: own}}
	for i := range same[0].Records {
		same[0].Records[i].Input = nil // no pair of counts, which alone would show the zone
	}
	same[0].Records[3].Output = new(int64(9000))
	if r := Compare(same, attempts, Options{Log: wholeDay}); r.Verdict != Differences {
		t.Errorf("most rows are found: %s", r.Say.En)
	}
	if r := Compare(f, attempts, Options{Log: wholeDay, ZoneFixed: true}); r.Verdict != Differences {
		t.Errorf("%s", r.Say.En)
	}
}

func TestWhatTheFileHasNothingOfIsNamed(t *testing.T) {
	attempts, rows := pairsOf(3)
	x, _ := made("x", 500, 7000, 700)
	x.Models = []string{"another-model"}
	lacks := func(r *Result) bool {
		return slices.ContainsFunc(r.Notes, func(w Words) bool { return strings.Contains(w.En, "nothing of another-model:") })
	}
	if r := laidBeside(rows, append(attempts, x), Options{}); !lacks(r) || classesOf(r)["x"] != OnlyLocal {
		t.Errorf("of a model that the file has nothing of: %v, %+v", r.Notes, classesOf(r))
	}
	if r := laidBeside(rows, attempts, Options{}); lacks(r) {
		t.Errorf("of a file that lacks nothing: %v", r.Notes)
	}
}
