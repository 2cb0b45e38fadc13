package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// numbered are exchanges a second apart.
func numbered(from, to int) []*exchange.Exchange {
	var all []*exchange.Exchange
	for i := from; i < to; i++ {
		all = append(all, &exchange.Exchange{ID: fmt.Sprintf("%06d", i), StartedAt: noon.Add(time.Duration(i) * time.Second), Outcome: exchange.OK})
	}
	return all
}

// recentOf reads the given log, which may grow.
func recentOf(log *[]*exchange.Exchange) *recent {
	return &recent{most: recentMost, load: func(_ context.Context, each func(*exchange.Exchange)) error {
		for i := len(*log) - 1; i >= max(0, len(*log)-recentMost-1); i-- {
			each((*log)[i])
		}
		return nil
	}}
}

// held are the ids that r holds, in its order.
func held(t testing.TB, r *recent) (ids []string, more bool) {
	t.Helper()
	more, err := r.each(t.Context(), func(b *brief) { ids = append(ids, b.ID) })
	if err != nil {
		t.Fatal(err)
	}
	return ids, more
}

func TestWhatIsRecordedIsHeldOnceInTheOrderOfTheStarts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		all := numbered(0, 30)
		written := rapid.IntRange(0, 30).Draw(r, "written before")
		log := all[:written]
		recent := recentOf(&log)
		held(t, recent)
		rest := rapid.Permutation(all[max(0, written-3):]).Draw(r, "recorded") // some of them again
		for len(rest) > 0 {
			n := rapid.IntRange(1, len(rest)).Draw(r, "batch")
			recent.follow(rest[:n])
			rest = rest[n:]
			if rapid.Bool().Draw(r, "looked at") {
				held(t, recent)
			}
		}
		got, more := held(t, recent)
		var want []string
		for _, x := range all {
			want = append(want, x.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" || more {
			r.Fatalf("more %v, want (-), got (+):\n%s", more, diff)
		}
	})
}

func TestWhatIsUnderWayIsNotHeld(t *testing.T) {
	var log []*exchange.Exchange
	r := recentOf(&log)
	held(t, r)
	r.follow([]*exchange.Exchange{{ID: "a", Outcome: exchange.Open}, {ID: "b", Outcome: exchange.OK}})
	if got, _ := held(t, r); !slices.Equal(got, []string{"b"}) {
		t.Errorf("%v", got)
	}
}

func TestOfALongLogTheNewestAreHeldAndThatIsSaid(t *testing.T) {
	log := numbered(0, recentMost+5)
	r := recentOf(&log)
	if got, more := held(t, r); !more || len(got) != recentMost || got[0] != "000005" {
		t.Errorf("%d held from %s, more %v", len(got), got[0], more)
	}
	r.follow(numbered(recentMost+5, recentMost+8))
	got, more := held(t, r)
	if last := got[len(got)-1]; !more || len(got) < recentMost || last != "050007" {
		t.Errorf("%d held to %s, more %v", len(got), last, more)
	}
	r.follow(numbered(recentMost+8, 2*recentMost))
	if got, _ := held(t, r); len(got) > recentMost*11/10 || got[len(got)-1] != "099999" {
		t.Errorf("%d held", len(got))
	}
}

func TestWhatIsOlderThanAllThatAreHeldIsNotAmongTheNewest(t *testing.T) {
	log := numbered(10, 30)
	r := recentOf(&log)
	r.most = 10
	held(t, r)
	r.follow(numbered(5, 6))
	if got, more := held(t, r); !more || got[0] != "000020" {
		t.Errorf("%v held, more %v", got, more)
	}
}

func TestALogThatWasBegunAnewHasNothingOfTheOldOne(t *testing.T) {
	log, renewed := numbered(0, 10), int64(0)
	r := recentOf(&log)
	r.era = func(context.Context) (store.Era, *time.Time, error) {
		return store.Era{Renewed: renewed}, &log[0].StartedAt, nil
	}
	held(t, r)
	log, renewed = numbered(50, 52), 1
	r.follow(log)
	if got, _ := held(t, r); strings.Join(got, " ") != "000050 000051" {
		t.Errorf("%v", got)
	}
}

func TestWhatIsDeletedIsHeldNoLonger(t *testing.T) {
	s := newConfig(t, numbered(0, 10)...).Store
	r := newRecent(s)
	for _, step := range []struct {
		does  string
		f     store.Filter
		after string
	}{
		{"nothing", store.Filter{Model: "none"}, "000000 000001 000002 000003 000004 000005 000006 000007 000008 000009"},
		{"the oldest go", store.Filter{To: store.When{Time: noon.Add(7 * time.Second)}}, "000007 000008 000009"},
		{"one in the middle goes", store.Filter{Search: "000008"}, "000007 000009"},
		{"all that is left goes", store.Filter{To: store.When{Time: noon.Add(time.Hour)}}, ""},
	} {
		if _, err := s.Delete(t.Context(), step.f, nil); err != nil {
			t.Fatal(err)
		}
		if got, more := held(t, r); strings.Join(got, " ") != step.after || more {
			t.Errorf("%s: %v held, more %v, want %s", step.does, got, more, step.after)
		}
	}
}

func TestWhatNobodyReadsIsNotKept(t *testing.T) {
	log := numbered(0, 10)
	r := recentOf(&log)
	r.follow(numbered(10, 20))
	if len(r.arrived) != 0 {
		t.Errorf("%d kept before anybody asked", len(r.arrived))
	}
	held(t, r)
	log = numbered(0, 2*recentMost)
	r.follow(log[10:])
	if len(r.arrived) != 0 {
		t.Errorf("%d kept that nobody reads", len(r.arrived))
	}
	if got, more := held(t, r); !more || len(got) != recentMost || got[len(got)-1] != "099999" {
		t.Errorf("%d held after a long time, more %v", len(got), more)
	}
}

func TestALogThatCannotBeReadIsReadTheNextTime(t *testing.T) {
	log := numbered(0, 3)
	r := recentOf(&log)
	load, broken := r.load, errors.New("disk gone")
	r.load = func(context.Context, func(*exchange.Exchange)) error { return broken }
	if _, err := r.each(t.Context(), func(*brief) {}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	r.load = load
	if got, _ := held(t, r); len(got) != 3 {
		t.Errorf("%v", got)
	}
}

func TestTheRecorderDoesNotWaitForThoseWhoRead(t *testing.T) {
	log := numbered(0, 3)
	r := recentOf(&log)
	var once sync.Once
	_, err := r.each(t.Context(), func(*brief) {
		once.Do(func() { r.follow(numbered(3, 4)) }) // would never return if it waited
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := held(t, r); strings.Join(got, " ") != "000000 000001 000002 000003" {
		t.Errorf("%v", got)
	}
}

func TestABriefIsTheSameFromItsColumnsAlone(t *testing.T) {
	s := newStore(t, telling()...)
	whole := map[string]brief{}
	err := s.Each(t.Context(), store.Filter{}, func(x *exchange.Exchange) error {
		whole[x.ID] = briefOf(x)
		return nil
	})
	if err != nil || len(whole) < 10 {
		t.Fatalf("%d exchanges, %v", len(whole), err)
	}
	n := 0
	_, err = newRecent(s).each(t.Context(), func(b *brief) {
		n++
		if diff := cmp.Diff(whole[b.ID], *b, cmp.AllowUnexported(brief{})); diff != "" {
			t.Errorf("%s: of all columns (-), of the brief's alone (+):\n%s", b.ID, diff)
		}
	})
	if err != nil || n != len(whole) {
		t.Errorf("%d of %d, %v", n, len(whole), err)
	}
}
