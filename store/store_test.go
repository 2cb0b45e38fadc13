package store

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func openTemp(t testing.TB) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "log.db"))
}

func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// wipe empties a log of its exchanges.
func wipe(t testing.TB, s *Store) {
	t.Helper()
	if _, err := s.conns().writer.Exec("DELETE FROM exchange; DELETE FROM aloft"); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsSavedIsReadBack(t *testing.T) {
	s := openTemp(t)
	rapid.Check(t, func(r *rapid.T) {
		want := anyExchange("01").Draw(r, "exchange")
		wipe(t, s)
		save(t, s, want)
		got, err := s.Exchange(t.Context(), "01")
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("saved (-), read (+):\n%s", diff)
		}
	})
}

func TestSaveReplacesTheRowOfTheSameID(t *testing.T) {
	s := openTemp(t)
	save(t, s, bare("01", exchange.Open), bare("02", exchange.Open))
	final := typical(1)
	final.ID = "01"
	save(t, s, final)
	page, err := s.List(t.Context(), Filter{IncludeOpen: true, Order: "asc"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*exchange.Exchange{bare("02", exchange.Open), final}, page.Exchanges); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

func TestSaveIsAllOrNothing(t *testing.T) {
	s := openTemp(t)
	if err := s.Save(t.Context(), []*exchange.Exchange{typical(1), bare("", exchange.OK)}); err == nil {
		t.Fatal("an exchange without an id was saved")
	}
	if n, err := s.Count(t.Context(), Filter{}); n != 0 || err != nil {
		t.Errorf("%d rows were kept of a transaction that failed (%v)", n, err)
	}
}

func TestNoNumberThatNobodyMeasuredIsKept(t *testing.T) {
	s := openTemp(t)
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x := bare("01", exchange.OK)
		x.TokensPerSec = &v
		save(t, s, x)
		if got, err := s.Exchange(t.Context(), "01"); err != nil || got.TokensPerSec != nil {
			t.Errorf("%v became %v, %v", v, got.TokensPerSec, err)
		}
	}
}

func TestLastIsTheNewestEndedExchange(t *testing.T) {
	s := openTemp(t)
	open := typical(9)
	open.Outcome = exchange.Open
	save(t, s, typical(7), typical(8), open, typical(6))
	x, err := s.Exchange(t.Context(), "last")
	if err != nil || x.ID != typical(8).ID {
		t.Errorf("got %v, %v, want %s", x, err, typical(8).ID)
	}
}

func TestAnUnknownExchangeDoesNotExist(t *testing.T) {
	s := openTemp(t)
	for _, id := range []string{"01", "last", ""} {
		if _, err := s.Exchange(t.Context(), id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestTheSecretIsMadeOnceForEachInstall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := openAt(t, path)
	first := secret(t, s)
	if len(first) != 32 || bytes.Equal(first, make([]byte, 32)) {
		t.Errorf("the secret is %x", first)
	}
	reader, err := OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if again := secret(t, reader); !bytes.Equal(first, again) {
		t.Error("a reader has another secret")
	}
	s.Close()
	if again := secret(t, openAt(t, path)); !bytes.Equal(first, again) {
		t.Error("the next process has another secret")
	}
	if other := secret(t, openTemp(t)); bytes.Equal(first, other) {
		t.Error("two installs have one secret")
	}
}

func secret(t *testing.T, s *Store) []byte {
	t.Helper()
	b, err := s.Secret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}
