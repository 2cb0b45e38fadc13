package web

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strings"
)

// paste is what to put where so that a client sends its requests here.
type paste struct {
	ID, Name string
	Tried    string        // how far the block is known to work
	First    template.HTML // what has to be there before; "" for nothing
	Where    template.HTML
	Text     string
	Know     template.HTML
}

// speech is what an upstream has to understand for a client.
type speech string

const (
	openAISpeech    speech = "openai"   // Responses, Chat Completions
	chatGPTSpeech   speech = "chatgpt"  // Responses with the login of ChatGPT, for Codex alone
	anthropicSpeech speech = "messages" // Messages
)

// homes are where each is spoken for certain.
var homes = map[speech]Upstream{
	openAISpeech:    {"openai", "https://api.openai.com/v1"},
	chatGPTSpeech:   {"chatgpt", "https://chatgpt.com/backend-api/codex"},
	anthropicSpeech: {"anthropic", "https://api.anthropic.com"},
}

// speaks says whether an upstream may understand a client. Of most it is known
// only when they have been tried.
func (u Upstream) speaks(s speech) bool {
	if isChatGPT(u.URL) {
		return s == chatGPTSpeech
	}
	for home, at := range homes {
		if host(u.URL) == host(at.URL) {
			return s == home
		}
	}
	return s != chatGPTSpeech
}

// isChatGPT says whether an upstream takes the login of ChatGPT in place of a key.
func isChatGPT(upstream string) bool {
	return strings.HasSuffix(strings.TrimSuffix(upstream, "/"), "/backend-api/codex")
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// client is a program that can send its requests through the proxy.
type client struct {
	id     string // its place on the page, and within the keys of its phrases
	name   string // "" where it takes words
	tried  string // with what the block was run; "" where its documentation alone speaks for it
	speech []speech
	block  string // what to paste, with {base} for the base URL
}

// clients are in the order of the page.
var clients = []client{
	{"codex", "Codex", "codex-cli 0.171.0", []speech{openAISpeech}, codexBlock(codexKey, "responses")},
	{"codex-chatgpt", "", "codex-cli 0.171.0", []speech{chatGPTSpeech}, codexBlock(codexLogin, "responses")},
	{"codex-openai", "", "codex-cli 0.171.0", []speech{openAISpeech, chatGPTSpeech}, `openai_base_url = "{base}"
`},
	{"codex-chat", "", "codex-cli 0.40.0, 0.80.0", []speech{openAISpeech}, codexBlock(codexKey, "chat")},
	{"curl", "curl", "curl 7.88.1", []speech{openAISpeech}, `curl -N {base}/responses \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"model": "gpt-5-mini", "stream": true, "input": "Count to ten."}'
`},
	{"python", "OpenAI SDK, Python", "", []speech{openAISpeech}, `from openai import OpenAI

client = OpenAI(base_url="{base}")
stream = client.responses.create(model="gpt-5-mini", input="Count to ten.", stream=True)
for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)
`},
	{"node", "OpenAI SDK, Node", "openai 6.49.0", []speech{openAISpeech}, `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "{base}" });
const stream = await client.responses.create({
  model: "gpt-5-mini", input: "Count to ten.", stream: true,
});
for await (const event of stream) {
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
}
`},
	{"claude", "Claude Code", "claude 2.1.197", []speech{anthropicSpeech}, `export ANTHROPIC_BASE_URL={base}
claude
`},
	{"cline", "Cline", "Cline CLI 3.0.65", []speech{openAISpeech}, "{base}\n"},
	{"roo", "Roo Code", "", []speech{openAISpeech}, "{base}\n"},
	{"continue", "Continue", "Continue CLI 1.5.47", []speech{openAISpeech}, `name: ttftap
version: 0.0.1
schema: v1
models:
  - name: through ttftap
    provider: openai
    model: gpt-5-mini
    apiBase: {base}
    apiKey: ${{ secrets.OPENAI_API_KEY }}
`},
	{"aider", "aider", "", []speech{openAISpeech}, `export OPENAI_API_BASE={base}
aider --model openai/gpt-5-mini
`},
	{"openwebui", "Open WebUI", "", []speech{openAISpeech}, "{base}\n"},
	{"litellm", "LiteLLM", "", []speech{openAISpeech}, `model_list:
  - model_name: gpt-5-mini
    litellm_params:
      model: openai/gpt-5-mini
      api_base: {base}
      api_key: os.environ/OPENAI_API_KEY
`},
}

const (
	codexKey   = `env_key = "OPENAI_API_KEY"`
	codexLogin = `requires_openai_auth = true`
)

func codexBlock(credential, api string) string {
	return `model_provider = "ttftap"

[model_providers.ttftap]
name = "ttftap"
base_url = "{base}"
` + credential + `
wire_api = "` + api + `"
`
}

// CodexBlock is what to put into Codex' configuration file so that it sends its
// requests to base, a proxy's address, from where they go to the upstream. An
// upstream of ChatGPT takes the login of Codex, any other one a key.
func CodexBlock(base, upstream string) string {
	credential := codexKey
	if isChatGPT(upstream) {
		credential = codexLogin
	}
	return based(base, codexBlock(credential, "responses"))
}

// based is a block with the base URL in its place.
func based(base, block string) string { return strings.ReplaceAll(block, "{base}", base) }

// pastes are what to paste for each client, the first one that the chosen
// upstream understands in front.
func (s *site) pastes(l language, chosen Upstream) []paste {
	var all []paste
	first := slices.IndexFunc(clients, chosen.understands)
	for i, c := range clients {
		p := s.paste(l, chosen, c)
		if i == first {
			all = slices.Insert(all, 0, p)
			continue
		}
		all = append(all, p)
	}
	return all
}

func (s *site) paste(l language, chosen Upstream, c client) paste {
	u, missing := s.upstreamFor(chosen, c)
	p := paste{
		ID: c.id, Name: cmp.Or(c.name, l.say("client."+c.id+".name")), Tried: l.say("client.untried"), Text: based(s.baseOf(u), c.block),
		Where: l.rich("client." + c.id + ".where"), Know: l.rich("client." + c.id + ".know"),
	}
	if c.tried != "" {
		p.Tried = l.say("client.tried", c.tried)
	}
	if missing {
		p.First = l.rich("client.first", u.Name, u.URL)
	}
	return p
}

// upstreamFor is the chosen upstream if it understands the client, else one that
// does; where there is none, the one that is missing.
func (s *site) upstreamFor(chosen Upstream, c client) (u Upstream, missing bool) {
	for _, u := range append([]Upstream{chosen}, s.Upstreams...) {
		if u.understands(c) {
			return u, false
		}
	}
	return homes[c.speech[0]], true
}

func (u Upstream) understands(c client) bool { return slices.ContainsFunc(c.speech, u.speaks) }
