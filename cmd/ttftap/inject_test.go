package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
)

// untold answers as a server does that tells usage to who asks for it alone, and
// says what it was asked.
func untold(t *testing.T, model string) (upstream string, asked chan string) {
	asked = make(chan string, 8)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- string(body)
		w.Header().Set("Content-Type", "text/event-stream")
		chunk := `data: {"id":"c1","model":"` + model + `","choices":[{"index":0,"delta":{"content":"Hello world"},"finish_reason":"stop"}]}` + "\n\n"
		if strings.Contains(string(body), "include_usage") {
			chunk += `data: {"id":"c1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3}}` + "\n\n"
		}
		io.WriteString(w, chunk+"data: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func (r *running) stream() string {
	r.t.Helper()
	res, err := http.Post(r.base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	return string(must(io.ReadAll(res.Body)))
}

func TestUsageIsAskedForIfTheFlagOrItsVariableSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		env  string
		want string // output tokens in the export
	}{
		"neither":           {nil, "", ""},
		"the flag":          {[]string{"--inject-usage"}, "", "3"},
		"the variable":      {nil, "true", "3"},
		"the flag beats it": {[]string{"--inject-usage=false"}, "true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.env != "" {
				t.Setenv("TTFTAP_INJECT_USAGE", c.env)
			}
			upstream, asked := untold(t, "m")
			r := startProgram(t, append([]string{"serve", "--upstream", upstream}, c.args...)...)
			if got := r.stream(); strings.Contains(got, "usage") || !strings.HasSuffix(got, "data: [DONE]\n\n") {
				t.Errorf("the client got %q", got)
			}
			if got := <-asked; strings.Contains(got, "include_usage") != (c.want != "") {
				t.Errorf("the upstream got %s", got)
			}
			if row := r.rows(1)[0]; row["output_tokens"] != c.want {
				t.Errorf("%q output tokens", row["output_tokens"])
			}
		})
	}
}

// What is counted here stands in no place of what is reported: it is told apart by its
// source in the exports, by a name of its own in the API, and by a tilde to people.
func TestTokensThatWereCountedAreSaidToBe(t *testing.T) {
	upstream, _ := untold(t, "gpt-4o")
	r := startProgram(t, "serve", "--upstream", upstream)
	r.stream()
	row := r.rows(1)[0]
	if row["output_tokens"] != "" || row["usage_source"] != "estimated" || row["tokens_per_sec"]+row["end_to_end_tokens_per_sec"]+row["tpot_ms"] != "" {
		t.Errorf("row %v", row)
	}
	if !strings.Contains(r.stderr.String(), "output_tokens=2~ ") {
		t.Errorf("line %s", r.stderr)
	}
	out, err := exec.Command("ttftap", "explain", "last", "--db", r.db).Output()
	if err != nil || !strings.Contains(string(out), " ~2 ") {
		t.Errorf("%v: %s", err, out)
	}
	if _, api := r.get("/-/api/requests"); !strings.Contains(api, `"estimated_output_tokens":2`) {
		t.Errorf("the API says %s", api)
	}
	if _, page := r.get("/-/requests/" + row["id"]); !strings.Contains(page, "~2") {
		t.Error("the page has no tilde")
	}
}
