package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ttftap/ttftap/proxy/simulator"
)

// simulatedModels serves the simulator's models, and in folders beside them
// upstreams of which each has something of its own.
func simulatedModels(t testing.TB) (base string) {
	models := simulator.New(simulator.Config{})
	mux := http.NewServeMux()
	mux.Handle("/v1/", models)
	beside := func(folder string, answer func(w http.ResponseWriter, r *http.Request) (done bool)) {
		mux.Handle("/"+folder+"/", http.StripPrefix("/"+folder, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !answer(w, r) {
				models.ServeHTTP(w, r)
			}
		})))
	}
	on := func(path, body string, status int, headers ...string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, body)
			return true
		}
	}
	beside("unlisted", on("/v1/models", `{"error":{"message":"no list"}}`, http.StatusNotFound))
	beside("single", on("/v1/models", `{"data":[{"id":"the-only-one"}]}`, http.StatusOK))
	beside("chatonly", on("/v1/responses", `{"error":{"message":"no such path"}}`, http.StatusNotFound))
	beside("limited", on("/v1/responses", `{"error":{"message":"slower"}}`, http.StatusTooManyRequests, "Retry-After", "30"))
	beside("locked", func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "Bearer sesame" {
			return false
		}
		return on(r.URL.Path, `{"error":{"message":"who are you?","code":"invalid_api_key"}}`, http.StatusUnauthorized)(w, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}
