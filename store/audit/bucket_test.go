package audit

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// sums is a random log and the hourly sums of a console, with what is true of
// each bucket.
type sums struct {
	attempts []Attempt
	cells    map[sumKey]*Record
	truth    map[sumKey]Class
	edgy     map[sumKey]bool // has an attempt at an edge
}

type sumKey struct {
	hour  int
	model string
}

// put adds an attempt, and to the console's bucket of the hour what it bills.
func (s *sums) put(a Attempt, hour int, billed bool) {
	s.attempts = append(s.attempts, a)
	if !billed {
		return
	}
	s.bill(sumKey{hour, a.Models[0]}, a.Counts)
}

func (s *sums) bill(k sumKey, n Counts) {
	r := s.cells[k]
	if r == nil {
		from := noon.Add(time.Duration(k.hour) * time.Hour)
		r = &Record{Kind: Bucket, At: AtStart, From: from, To: from.Add(time.Hour), Model: k.model, Requests: new(int64(0))}
		s.cells[k] = r
	}
	r.Counts = r.Counts.plus(Counts{Input: n.Input, Cached: n.Cached, Output: n.Output})
	r.Requests = new(*r.Requests + 1)
}

func (s *sums) compare() *Result {
	// The hours before and after make the file cover what is in between.
	records := []Record{
		{Kind: Bucket, At: AtStart, From: noon.Add(-time.Hour), To: noon}, {Kind: Bucket, At: AtStart, From: noon.Add(8 * time.Hour), To: noon.Add(9 * time.Hour)},
	}
	for _, r := range s.cells {
		records = append(records, *r)
	}
	for i := range records {
		records[i].Line = i + 2
	}
	return Compare([]File{{Records: records}}, s.attempts, Options{Log: wholeDay})
}

// atHour draws an attempt that starts in an hour, near to its end if asked for. No
// two are alike: one that was billed in the place of another would be no fault.
func atHour(t *rapid.T, i, hour int, nearEdge bool) Attempt {
	in := rapid.Int64Range(1, 100).Draw(t, "thousands in")*1000 + int64(i)
	a, _ := made(fmt.Sprintf("x%03d", i), 0, in, rapid.Int64Range(1, 5000).Draw(t, "out"))
	second := rapid.IntRange(5, 3590).Draw(t, "second")
	if nearEdge {
		second = rapid.SampledFrom([]int{0, 3599}).Draw(t, "edge")
	}
	a.Start = noon.Add(time.Duration(hour)*time.Hour + time.Duration(second)*time.Second)
	a.End = a.Start.Add(20 * time.Second)
	a.Models = []string{rapid.SampledFrom(worldModels[:2]).Draw(t, "model")}
	a.Cached = new(rapid.Int64Range(0, *a.Input).Draw(t, "cached"))
	return a
}

func TestSumsAreEqualExplainedOrDifferentAsTheyWereMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &sums{cells: map[sumKey]*Record{}, truth: map[sumKey]Class{}, edgy: map[sumKey]bool{}}
		for i := range rapid.IntRange(1, 40).Draw(t, "n") {
			hour := rapid.IntRange(0, 7).Draw(t, "hour")
			edge := rapid.IntRange(0, 5).Draw(t, "near an edge") == 0
			a := atHour(t, i, hour, edge)
			counted := hour
			if edge && rapid.Bool().Draw(t, "counted beside") {
				counted += 1
				if a.Start.Minute() == 0 {
					counted -= 2
				}
			}
			s.edgy[sumKey{hour, a.Models[0]}] = s.edgy[sumKey{hour, a.Models[0]}] || edge
			s.edgy[sumKey{counted, a.Models[0]}] = s.edgy[sumKey{counted, a.Models[0]}] || edge
			s.put(a, counted, true)
		}
		s.plant(t)
		s.check(t, s.compare())
	})
}

// plant puts at most one fault into a model's hour, away from the edges.
func (s *sums) plant(t *rapid.T) {
	for hour := range 8 {
		a := atHour(t, 900+hour, hour, false)
		k := sumKey{hour, a.Models[0]}
		if s.cells[k] == nil || rapid.IntRange(0, 3).Draw(t, "fault") > 0 {
			continue
		}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			s.bill(k, a.Counts)
			s.truth[k] = BucketDiffers
		case 1:
			s.put(a, hour, false)
			s.truth[k] = BucketDiffers
		case 2:
			a.Outcome = exchange.UpstreamCut
			s.put(a, hour, false)
			s.truth[k] = BucketExplained
		case 3:
			s.bill(k, a.Counts)
			s.put(bare(a, exchange.ClientAbort), hour, false)
			s.truth[k] = BucketDiffers
		}
	}
}

func (s *sums) check(t *rapid.T, r *Result) {
	for _, row := range r.Rows {
		k := sumKey{int(row.Time.Sub(noon) / time.Hour), row.Model}
		want := s.truth[k]
		if want == "" {
			want = BucketEqual
		}
		// One that differs may take what is at its edge for its own; with few
		// requests that may leave either side with nothing.
		if row.Class == want || want == BucketDiffers && (row.Class == OnlyConsole || row.Class == OnlyLocal) {
			continue
		}
		if want == BucketExplained && row.Class == BucketDiffers && s.edgy[k] {
			continue // two things at once are not taken apart
		}
		t.Fatalf("hour %d of %s is %s, want %s: %v\nhere %+v there %+v", k.hour, k.model, row.Class, want, row.Reasons, row.Requests, row.There)
	}
}

func TestABucketThatTheLogCoversInPartAccusesNobody(t *testing.T) {
	a, _ := made("x", 0, 1000, 100)
	s := &sums{cells: map[sumKey]*Record{}}
	s.put(a, 0, true)
	s.bill(sumKey{0, "gpt-5"}, a.Counts)
	for from, want := range map[time.Time]Class{noon: BucketDiffers, noon.Add(time.Minute): OutOfScope} {
		r := s.cells[sumKey{0, "gpt-5"}]
		rows := []Record{*r, {Kind: Bucket, From: noon.Add(time.Hour), To: noon.Add(2 * time.Hour)}}
		got := Compare([]File{{Records: rows}}, s.attempts, Options{Log: Span{from, noon.Add(3 * time.Hour)}})
		if len(got.Rows) != 1 || got.Rows[0].Class != want {
			t.Errorf("a log from %s: %+v", from.Format("15:04"), got.Rows)
		}
	}
}

func hourOf(a Attempt, hour int) Record {
	from := noon.Add(time.Duration(hour) * time.Hour)
	return Record{Kind: Bucket, At: AtEnd, From: from, To: from.Add(time.Hour), Model: "gpt-5", Requests: new(int64(1)), Counts: a.Counts}
}

func TestASumOfWhichARowCannotBeReadAccusesNobody(t *testing.T) {
	a, _ := made("a", 60, 1000, 100)
	b, _ := made("b", 3660, 2000, 200)
	c, _ := made("c", 7260, 3000, 300)
	f := File{Records: []Record{hourOf(a, 0), hourOf(c, 2)}, Unread: []Record{hourOf(Attempt{}, 1)}}
	if r := Compare([]File{f}, []Attempt{a, b, c}, Options{Log: wholeDay}); r.Verdict != Clean {
		t.Errorf("%s", r.Say.En)
	}
	f.Unread = nil
	if r := Compare([]File{f}, []Attempt{a, b, c}, Options{Log: wholeDay}); r.Verdict != Differences {
		t.Errorf("%s", r.Say.En)
	}
}

func TestASumThatOthersHaveAPartInIsNoDifferenceWhereTheUserSaysSo(t *testing.T) {
	a, _ := made("a", 60, 1000, 100)
	b, _ := made("b", 3660, 2000, 200)
	more := hourOf(b, 1)
	more.Requests, more.Counts = new(int64(2)), Counts{Input: new(int64(2900)), Output: new(int64(230))}
	rows := []Record{hourOf(a, 0), more, hourOf(a, 2)}
	if r := Compare([]File{{Records: rows}}, []Attempt{a, b}, Options{Log: wholeDay, Shared: true}); r.Verdict != Clean {
		t.Errorf("%s", r.Say.En)
	}
	rows[1].Input = new(int64(1900))
	if r := Compare([]File{{Records: rows}}, []Attempt{a, b}, Options{Log: wholeDay, Shared: true}); r.Verdict != Differences {
		t.Errorf("%s", r.Say.En)
	}
}

func TestTheLastMinutesOfAFileMayBeIncomplete(t *testing.T) {
	var rows []Record
	var attempts []Attempt
	for i := range 20 {
		a, _ := made("a"+string(rune('a'+i)), 60*i+10, int64(1000+i), int64(100+i))
		attempts = append(attempts, a)
		r := hourOf(a, 0)
		r.From = noon.Add(time.Duration(i) * time.Minute)
		r.To = r.From.Add(time.Minute)
		rows = append(rows, r)
	}
	late := append(rows[:17:17], rows[18:]...)
	if r := Compare([]File{{Records: late}}, attempts, Options{Log: wholeDay}); r.Verdict != Clean {
		t.Errorf("%s", r.Say.En)
	}
	early := append(rows[:5:5], rows[6:]...)
	if r := Compare([]File{{Records: early}}, attempts, Options{Log: wholeDay}); r.Verdict != Differences {
		t.Errorf("%s", r.Say.En)
	}
}

func TestABucketThatTheConsoleLacksIsMissed(t *testing.T) {
	var attempts []Attempt
	var rows []Record
	for hour := range 4 {
		a, _ := made("x"+string(rune('a'+hour)), 3600*hour+60, int64(1000+hour), int64(100+hour))
		attempts, rows = append(attempts, a), append(rows, hourOf(a, hour))
	}
	lacking := append(rows[:1:1], rows[2:]...)
	if got := classesOf(Compare([]File{{Records: lacking}}, attempts, Options{Log: wholeDay})); got["xb"] != OnlyLocal {
		t.Errorf("%v", got)
	}
	pages := []File{{Records: rows[:1]}, {Records: rows[2:]}}
	if r := Compare(pages, attempts, Options{Log: wholeDay}); r.Verdict != Clean {
		t.Errorf("between two files: %s", r.Say.En)
	}
	for i := range lacking {
		lacking[i].Counts, lacking[i].Requests, lacking[i].Money = Counts{}, nil, &Money{Nano: 1, Currency: "USD", Kind: Billed}
	}
	if r := Compare([]File{{Records: lacking}}, attempts, Options{Log: wholeDay}); r.Verdict != CannotCompare {
		t.Errorf("a file of money: %s", r.Say.En)
	}
}
