package web

import (
	"context"
	"io"
	"net/http"

	"github.com/ttftap/ttftap/store"
)

// file is a form of export.
type file struct {
	ending, mediaType string
	write             func(context.Context, io.Writer, store.Filter) error
}

func (s *site) exportCSV(w http.ResponseWriter, r *http.Request) error {
	bom := r.URL.Query().Get("bom") == "1"
	return s.export(w, r, file{"csv", "text/csv; charset=utf-8",
		func(ctx context.Context, w io.Writer, f store.Filter) error { return s.Store.WriteCSV(ctx, w, f, bom) }})
}

func (s *site) exportJSONL(w http.ResponseWriter, r *http.Request) error {
	return s.export(w, r, file{"jsonl", "application/jsonl", s.Store.WriteJSONL})
}

// export streams what a filter has. A log that cannot be read is told before the
// first byte; later the answer can only be broken off, lest it look whole.
func (s *site) export(w http.ResponseWriter, r *http.Request, as file) error {
	f, err := s.strictFilter(r)
	if err != nil {
		return err
	}
	if _, err := s.first(r.Context(), f); err != nil {
		return err
	}
	name := "requests-" + s.Now().UTC().Format("20060102T1504Z") + "." + as.ending
	w.Header().Set("Content-Type", as.mediaType)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	if r.Method == http.MethodHead {
		return nil
	}
	if err := as.write(r.Context(), w, f); err != nil {
		s.Log.WarnContext(r.Context(), "export broken off", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// strictFilter is the filter of a program's request, which must be whole.
func (s *site) strictFilter(r *http.Request) (store.Filter, error) {
	f, _, problems := s.parseQuery(r)
	if len(problems) > 0 {
		return f, brokenFilter(problems)
	}
	return f, nil
}
