package store

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTheSizeIsWhatTheLogHolds(t *testing.T) {
	s := openTemp(t)
	if z, err := s.Size(t.Context()); err != nil || z.Rows != 0 || z.Oldest != nil || z.Months != nil || z.File == 0 {
		t.Errorf("an empty log has %+v (%v)", z, err)
	}
	day := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC) }
	for i, at := range []time.Time{day(1, 31), day(2, 1), day(2, 28), day(4, 1)} {
		x := typical(i)
		x.StartedAt = at
		if i == 3 {
			x.Outcome = exchange.Open
		}
		save(t, s, x)
	}
	z, err := s.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := Size{
		Rows: 4, Open: 1, Oldest: new(day(1, 31)), Newest: new(day(4, 1)),
		Months: []Month{{day(1, 1), 1}, {day(2, 1), 2}, {day(4, 1), 1}},
		Space:  Space{z.File, z.WAL, z.Free, true},
	}
	if diff := cmp.Diff(want, z); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	if z.WAL == 0 {
		t.Error("nothing is written ahead")
	}
}

func TestTheTreesMakeUpTheFile(t *testing.T) {
	s := openTemp(t)
	save(t, s, filled(3000)...)
	trees, err := s.Trees(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	bytes := map[string]int64{}
	for _, p := range trees {
		sum += p.Bytes
		bytes[p.Name] = p.Bytes
	}
	p, err := s.pages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if rest := p.count*p.size - sum; rest < 0 || rest > sum/50 {
		t.Errorf("%d bytes of %d belong to nothing", rest, p.count*p.size)
	}
	if bytes["exchange"] < 3000*500 || bytes["exchange_time"] < 3000*8 || bytes["prompt"] == 0 {
		t.Errorf("the trees are %v", bytes)
	}
}

func TestFreeSpaceIsGivenBackBesideOneWhoRecords(t *testing.T) {
	s := openTemp(t)
	rows := filled(4000)
	save(t, s, rows...)
	other := openedBeside(t, s)
	if _, err := other.Delete(t.Context(), Filter{To: When{Time: rows[3500].StartedAt}}, nil); err != nil {
		t.Fatal(err)
	}
	before := sizeOf(t, s)
	var told []int64
	if err := other.Shrink(t.Context(), 1<<20, func(free int64) { told = append(told, free); save(t, s, typical(4000+len(told))) }); err != nil {
		t.Fatal(err)
	}
	after := sizeOf(t, s)
	if before.Free < 2<<20 || after.Free > 1<<20 || len(told) == 0 {
		t.Errorf("of %d free bytes %d are left, told in %d steps", before.Free, after.Free, len(told))
	}
	if _, err := s.conns().writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	if file, err := os.Stat(s.Path()); err != nil || file.Size() > before.File-before.Free+(2<<20) {
		t.Errorf("the file of %d bytes has %d now (%v)", before.File, file.Size(), err)
	}
	if n := tally(t, s, "exchange"); n != 500+len(told) {
		t.Errorf("%d exchanges are left, want %d", n, 500+len(told))
	}
}

func sizeOf(t *testing.T, s *Store) Size {
	t.Helper()
	z, err := s.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return z
}
