package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/ttftap/ttftap/store"
)

// connectView tells how to send a client's requests through the proxy.
type connectView struct {
	page
	Steps steps
}

// steps are what there is to do, with this proxy's own addresses.
type steps struct {
	Listen string
	Codex  string
	Curl   string
	Routes []route
	Logged string // how many requests have come; "" where the log cannot tell
}

// route is a base URL to give to a client, and where it leads.
type route struct{ Base, URL string }

func (s *site) connect(w http.ResponseWriter, r *http.Request) error {
	v := connectView{page: s.page(w, r, "connect.title")}
	v.Steps = s.steps(r.Context(), v.Language)
	return v.render(w, http.StatusOK, "connect", v)
}

func (s *site) steps(ctx context.Context, l language) steps {
	base := strings.TrimSuffix(s.Listen, "/")
	st := steps{
		Listen: base,
		Curl: "curl -N " + base + "/responses \\\n" +
			`  -H "Authorization: Bearer $OPENAI_API_KEY" \` + "\n" +
			`  -H "Content-Type: application/json" \` + "\n" +
			`  -d '{"model": "gpt-5-mini", "stream": true, "input": "Count to ten."}'`,
	}
	if n, err := s.Store.Count(ctx, store.Filter{}); err == nil { // the rest needs no log
		st.Logged = l.number("connect.count", n)
	}
	for i, u := range s.Upstreams {
		if i == 0 {
			st.Codex = CodexBlock(base, u.URL)
			st.Routes = append(st.Routes, route{base, u.URL})
			continue
		}
		st.Routes = append(st.Routes, route{base + "/to/" + u.Name, u.URL})
	}
	return st
}

// CodexBlock is what to put into Codex' configuration file so that it sends its
// requests to base, a proxy's address, from where they go to the upstream. An
// upstream of ChatGPT takes the login of Codex, any other one a key.
func CodexBlock(base, upstream string) string {
	credential := `env_key = "OPENAI_API_KEY"`
	if strings.HasSuffix(strings.TrimSuffix(upstream, "/"), "/backend-api/codex") {
		credential = "requires_openai_auth = true"
	}
	return `model_provider = "ttftap"

[model_providers.ttftap]
name = "ttftap"
base_url = "` + base + `"
` + credential + `
wire_api = "responses"
`
}
