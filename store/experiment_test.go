package store

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"
)

func TestAnExperimentIsReadAsItWasSaved(t *testing.T) {
	s := openTemp(t)
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	end := start.Add(90 * time.Second)
	first := Experiment{ID: ulid.Make().String(), StartedAt: start, Plan: []byte(`{"kind":"ladder"}`)}
	second := Experiment{ID: ulid.Make().String(), StartedAt: start, Plan: []byte(`{}`), EndedAt: &end, Stopped: true}
	for _, e := range []Experiment{first, second} {
		if err := s.SaveExperiment(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	first.EndedAt = &end
	if err := s.SaveExperiment(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	all, err := s.Experiments(t.Context(), 10)
	if diff := cmp.Diff([]Experiment{second, first}, all); diff != "" || err != nil {
		t.Error(err, diff)
	}
	got, err := s.Experiment(t.Context(), first.ID)
	if diff := cmp.Diff(first, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := s.Experiment(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
