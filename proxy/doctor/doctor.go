// Package doctor looks at a client's settings and at what an upstream answers
// to a few cheap requests, and says what is wrong with them and what would be
// right. It knows neither the proxy nor the log.
//
// All requests come first, in Ask, and are told beforehand by Requests. The
// checks are functions of what was asked and answered; none of them asks more.
package doctor

import (
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Setup is what is to be examined: the settings as they were found, none of them
// put right.
type Setup struct {
	Upstream string              // base URL; "": what Codex or the environment say, else OpenAI's
	KeyEnv   string              // variable that holds the key; "": what Codex says, else OPENAI_API_KEY
	Model    string              // "": what Codex says, else one of the upstream's list
	Wire     exchange.Dialect    // that the client speaks, Responses or Chat; "": what Codex says, else Responses
	Via      string              // address of a running ttftap; "": none is examined
	Getenv   func(string) string // the environment. Required
	Codex    Codex
	Aborts   []Abort // what the log tells of answers that were broken off
	NoLog    string  // why no log was read; "" where one was

	Transport http.RoundTripper // over HTTP/1.1, which a WebSocket needs. Required
	Timeout   time.Duration     // of one request; 0: 60 s
}

// State is what a check comes to.
type State string

// The states.
const (
	OK        State = "ok"
	Change    State = "change"    // something must change
	Unchecked State = "unchecked" // it could not be checked
)

// Finding is what one check found.
type Finding struct {
	Check  string   `json:"check"`
	State  State    `json:"state"`
	Words  string   `json:"words"`
	Advice []string `json:"advice,omitempty"` // the corrected settings, or what is good to know
	File   string   `json:"file,omitempty"`   // that holds the line to change
	Line   int      `json:"line,omitempty"`   // from 1; 0 where it is no line of a file
	Fixed  bool     `json:"fixed,omitempty"`  // for the caller to set, when it has made the edits
	Edits  []Edit   `json:"-"`                // of File; nil where no line would do
}

// Case is one examination.
type Case struct {
	Setup
	given   setting // base URL
	secret  setting // key, as it was found
	model   setting
	wire    exchange.Dialect
	key     string // as it is sent: without what does not belong to it; "" for none
	first   string // base URL without what does not belong to it; "" where it is none
	base    string // where the API proved to be; first where nothing else did
	replies []*reply
}

// New settles what is to be examined. It asks nothing yet.
func New(s Setup) *Case {
	if s.Timeout == 0 {
		s.Timeout = time.Minute
	}
	c := &Case{Setup: s}
	c.given, c.secret, c.wire = c.findBase(), c.findKey(), c.findWire()
	c.model = c.findModel()
	c.key = cleanKey(c.secret.value)
	c.first = cleanBase(c.given.value)
	c.base = c.first
	return c
}

// Base is the base URL that is examined, without anything that may be a secret.
func (c *Case) Base() string { return c.base }

// checks are in the order in which one would look: what stands in files and the
// environment, then whether anything answers, then how well.
var checks = []struct {
	name  string
	judge func(*Case) *Finding // nil: there is nothing to say
}{
	{"key", checkKey},
	{"system proxy", checkSystemProxy},
	{"Codex", checkCodex},
	{"Codex: config.toml", checkSyntax},
	{"Codex: provider", checkProvider},
	{"Codex: wire_api", checkWireAPI},
	{"Codex: key", checkCodexKey},
	{"Codex: project file", checkProject},
	{"Codex: base URL", checkIgnoredBase},
	{"Codex: config.json", checkLegacy},
	{"connection", checkConnection},
	{"base URL", checkBase},
	{"access", checkAccess},
	{"limits", checkLimits},
	{"model", checkModel},
	{"wire format", checkWire},
	{"streaming", checkStreaming},
	{"usage", checkUsage},
	{"stream_options", checkStreamOptions},
	{"WebSocket", checkSocket},
	{"clock", checkClock},
	{"ttftap", checkVia},
	{"aborts", checkAborts},
}

// Findings are what the checks say of what was asked. Nothing in them holds the
// key, whoever repeated it, or what a terminal would obey.
func (c *Case) Findings() []Finding {
	var all []Finding
	for _, check := range checks {
		f := check.judge(c)
		if f == nil {
			continue
		}
		f.Check = check.name
		f.Words = c.shown(f.Words)
		for i := range f.Advice {
			f.Advice[i] = c.shown(f.Advice[i])
		}
		all = append(all, *f)
	}
	return all
}

// leastSecret is how long a key is at least: a shorter one would be found in any
// text.
const leastSecret = 6

// shown is a text without the key, and printable.
func (c *Case) shown(text string) string {
	for _, secret := range []string{c.secret.value, c.key} {
		if len(secret) >= leastSecret {
			text = strings.ReplaceAll(text, secret, "(the key)")
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

func ok(words string, advice ...string) *Finding {
	return &Finding{State: OK, Words: words, Advice: advice}
}

func change(words string, advice ...string) *Finding {
	return &Finding{State: Change, Words: words, Advice: advice}
}

func unchecked(words string, advice ...string) *Finding {
	return &Finding{State: Unchecked, Words: words, Advice: advice}
}

// at names the line to change, and the edits that would change it.
func (f *Finding) at(file *Config, line int, edits ...Edit) *Finding {
	f.File, f.Line, f.Edits = file.Path, line, edits
	return f
}
