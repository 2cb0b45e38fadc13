package web

import (
	"regexp"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// consoles say in which field of which console an id is searched for, told by
// where it came from and by its form: the first that fits, else "ids." and where
// it came from.
var consoles = []struct {
	from   string // gateway, request or response; "" for any
	form   *regexp.Regexp
	phrase string
}{
	{"", regexp.MustCompile(`^20\d{12}`), "ids.newapi"},
	{"", regexp.MustCompile(`^gen-`), "ids.openrouter"},
	{"gateway", regexp.MustCompile(`^0[0-9A-HJKMNP-TV-Z]{25}$`), "ids.cloudflare"},
	{"gateway", regexp.MustCompile(`^[0-9a-f]{8}-`), "ids.litellm"},
	{"request", regexp.MustCompile(`^req_`), "ids.vendor"},
	{"request", regexp.MustCompile(`^[0-9a-f]{16}-[A-Z]{3}$`), "ids.ray"},
	{"request", regexp.MustCompile(`^[0-9a-f]{8}-`), "ids.azure"},
	{"response", regexp.MustCompile(`^(resp|chatcmpl|cmpl)[_-]`), "ids.openai"},
}

// consoleOf says where an id can be searched for.
func consoleOf(l language, from, id string) string {
	for _, c := range consoles {
		if (c.from == "" || c.from == from) && c.form.MatchString(id) {
			return l.say(c.phrase)
		}
	}
	return l.say("ids." + from)
}

func idList(l language, x *exchange.Exchange) list {
	b := newLister(l, "ids.title", x)
	b.id("gateway_id", x.GatewayRequestID, consoleOf(l, "gateway", x.GatewayRequestID))
	b.id("request_id", x.RequestID, consoleOf(l, "request", x.RequestID))
	b.id("response_id", x.ResponseID, consoleOf(l, "response", x.ResponseID))
	b.id("id", x.ID, "")
	b.linked("session", x.SessionID, rowsWith("session", x.SessionID))
	b.linked("turn", x.TurnID, turnURL(x))
	b.linked("experiment", x.Experiment, experimentURL(x.Experiment))
	if x.Experiment != "" && x.Step != nil {
		b.Facts[len(b.Facts)-1].Aside = l.say("part.step", figure.Count(x.Step))
	}
	b.have("kind", plain(x.RequestKind, nameRunes), "")
	if retried(x) {
		b.id("retry_group", x.RetryGroup, l.say("part.attempt", figure.Count(x.Attempt)))
	}
	return b.list
}

// id adds an id where there is one, with what it is good for.
func (b *lister) id(name, value, aside string) {
	if value == "" {
		return
	}
	f := fact{Name: b.l.say("fact." + name), Value: plain(value, nameRunes), Aside: aside, Code: true}
	if f.Value == value {
		f.Copy = value
	}
	b.Facts = append(b.Facts, f)
}

// linked adds an id that leads to the exchanges that share it.
func (b *lister) linked(name, value, url string) {
	if value != "" {
		b.id(name, value, "")
		b.Facts[len(b.Facts)-1].URL = url
	}
}
