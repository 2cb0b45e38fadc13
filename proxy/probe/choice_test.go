package probe_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/probe"
)

// logged is an instance whose log has rows, and whose upstream answers for the
// list of models with a status and a body.
func logged(t *testing.T, rows []map[string]any, status int, models string) *probe.Instance {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /-/api/requests", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("upstream") != "default" || r.Header.Get("Authorization") != "Bearer page" {
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"requests": rows})
	})
	mux.HandleFunc("GET /models", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			status = http.StatusForbidden
		}
		w.WriteHeader(status)
		w.Write([]byte(models))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &probe.Instance{Client: server.Client(), Base: server.URL, Token: "page"}
}

func logRow(model, dialect, outcome string) map[string]any {
	return map[string]any{"model_requested": model, "dialect": dialect, "outcome": outcome}
}

func TestTheModelIsTheOneThatTheLogHasMostOf(t *testing.T) {
	rows := []map[string]any{
		logRow("a", "chat", "ok"), logRow("a", "chat", "ok"), logRow("a", "responses", "incomplete"),
		logRow("b", "responses", "ok"), logRow("b", "responses", "ok"),
		logRow("c", "messages", "ok"), logRow("c", "messages", "ok"), logRow("c", "messages", "ok"), logRow("c", "messages", "ok"),
		logRow("d", "chat", "upstream_error"), logRow("d", "chat", "upstream_error"), logRow("d", "chat", "upstream_error"), logRow("d", "chat", "open"),
		logRow("", "chat", "ok"), logRow("", "chat", "ok"), logRow("", "chat", "ok"), logRow("", "chat", "ok"),
	}
	for asked, want := range map[string][2]string{"": {"a", "chat"}, "b": {"b", "responses"}, "c": {"c", ""}, "e": {"e", ""}} {
		model, wire, err := logged(t, rows, 0, "").Used(context.Background(), probe.Default, asked)
		if err != nil || model != want[0] || wire != want[1] {
			t.Errorf("asked for %q: %q over %q, %v", asked, model, wire, err)
		}
	}
	if model, wire, err := logged(t, nil, 0, "").Used(context.Background(), probe.Default, ""); model != "" || wire != "" || err != nil {
		t.Errorf("of an empty log: %q over %q, %v", model, wire, err)
	}
}

func TestTheUpstreamListsItsModels(t *testing.T) {
	i := logged(t, nil, http.StatusOK, `{"object":"list","data":[{"id":"x"},{"id":"y"}]}`)
	got, err := i.Models(context.Background(), probe.Default, "key")
	if diff := cmp.Diff([]string{"x", "y"}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for body, status := range map[string]int{`{"data":[]}`: 200, `<html>`: 200, `{"error":{"message":"no list here"}}`: 404} {
		got, err := logged(t, nil, status, body).Models(context.Background(), probe.Default, "key")
		if err == nil || got != nil || status == 404 && !strings.Contains(err.Error(), "no list here") {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
	if _, err := i.Models(context.Background(), probe.Default, ""); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("without a key: %v", err)
	}
}

func TestWhatIsNoTtftapIsSaidToBeNone(t *testing.T) {
	for body, status := range map[string]int{"ok\n": 200, "okay": 500, "<html>": 200, "": 200} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			w.Write([]byte(body))
		}))
		i := &probe.Instance{Client: server.Client(), Base: server.URL}
		if err := i.Healthy(context.Background()); (err == nil) != (body == "ok\n") {
			t.Errorf("%d %q: %v", status, body, err)
		}
		server.Close()
		if err := i.Healthy(context.Background()); err == nil {
			t.Error("nobody is healthy")
		}
	}
}

func TestAnInstanceSaysWhyItDoesNotAnswer(t *testing.T) {
	i := logged(t, nil, 0, "")
	i.Token = "wrong"
	if _, _, err := i.Used(context.Background(), probe.Default, ""); err == nil || !strings.Contains(err.Error(), "--ui-token") {
		t.Errorf("%v", err)
	}
	if _, err := i.Report(context.Background(), "x"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("%v", err)
	}
}
