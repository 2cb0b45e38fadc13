package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/ttftap/ttftap/store"
)

// apiPage is a page of the log: its keys are the CSV's column names.
type apiPage struct {
	Requests []json.RawMessage `json:"requests"`
	Next     *string           `json:"next"` // cursor of the next page; null on the last
}

func (s *site) apiRequests(w http.ResponseWriter, r *http.Request) error {
	f, err := s.strictFilter(r)
	if err != nil {
		return err
	}
	found, err := s.Store.List(r.Context(), f)
	if err != nil {
		return err
	}
	p := apiPage{Requests: []json.RawMessage{}}
	if found.Next != "" {
		p.Next = &found.Next
	}
	for _, x := range found.Exchanges {
		b, err := store.MarshalExchange(x)
		if err != nil {
			return err
		}
		p.Requests = append(p.Requests, b)
	}
	return writeJSON(w, http.StatusOK, p)
}

func (s *site) apiExchange(w http.ResponseWriter, r *http.Request) error {
	x, err := s.Store.Exchange(r.Context(), idOf(r))
	if err != nil {
		return err
	}
	b, err := store.MarshalExchange(x)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, json.RawMessage(b))
}

// writeJSON writes a value, once all of it has been made.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return fmt.Errorf("make JSON: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a reader who has left misses nothing
	return nil
}
