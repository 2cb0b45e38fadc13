package doctor

import (
	"net/url"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const (
	openAI  = "https://api.openai.com/v1"
	baseEnv = "OPENAI_BASE_URL"
	keyEnv  = "OPENAI_API_KEY"
)

// setting is a value and where it comes from.
type setting struct {
	value  string
	source string // for people: a variable, a flag, a file
	entry  *entry // of Codex' config file; nil where it is from elsewhere
}

// findBase takes the base URL that the client has: what is asked for, else what
// Codex would use, else the environment's.
func (c *Case) findBase() setting {
	if c.Upstream != "" {
		return setting{value: c.Upstream, source: "--upstream"}
	}
	if e := c.Codex.base(); e != nil {
		return setting{e.value, c.Codex.Config.Path, e}
	}
	for _, name := range []string{baseEnv, "OPENAI_API_BASE"} {
		if v := c.Getenv(name); v != "" {
			return setting{value: v, source: name}
		}
	}
	return setting{value: openAI, source: "nothing names another"}
}

// findKey takes the key from the environment: a flag would be kept in a shell's
// history.
func (c *Case) findKey() setting {
	name := c.KeyEnv
	if e := c.Codex.provided("env_key"); name == "" && e != nil && c.isVariable(e.value) {
		name = e.value
	}
	if name == "" {
		name = keyEnv
	}
	return setting{value: c.Getenv(name), source: name}
}

func (c *Case) findModel() setting {
	if c.Model != "" {
		return setting{value: c.Model, source: "--model"}
	}
	if e := c.Codex.top("model"); e != nil {
		return setting{e.value, c.Codex.Config.Path, e}
	}
	return setting{}
}

func (c *Case) findWire() exchange.Dialect {
	if c.Wire != "" {
		return c.Wire
	}
	if c.Codex.speaksChat() {
		return exchange.Chat
	}
	return exchange.Responses
}

// query is what Codex is told to put behind every address, where the base URL is
// from its config.
func (c *Case) query() string {
	query := url.Values{}
	if c.given.entry == nil {
		return ""
	}
	for _, e := range c.Codex.Config.within("model_providers", c.Codex.providerID(), "query_params", "*") {
		query.Set(e.name(), e.value)
	}
	return query.Encode()
}

// baseSetting words a base URL as the setting that it was found in.
func (c *Case) baseSetting(base string) string {
	switch {
	case c.given.entry != nil:
		return c.given.entry.name() + ` = "` + base + `"`
	case c.given.source == "--upstream":
		return "--upstream " + base
	case c.given.source == baseEnv:
		return "export " + baseEnv + "=" + base
	}
	return `base_url = "` + base + `"`
}
