package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// checkCodexKey looks at how the chosen provider gets its key.
func checkCodexKey(c *Case) *Finding {
	x := &c.Codex
	if e := x.provided("env_key"); e != nil {
		switch {
		case !c.isVariable(e.value):
			return change("env_key holds what looks like a key; it takes the name of a variable", fmt.Sprintf("env_key = %q, and export %s=... in the shell", keyEnv, keyEnv)).
				at(x.Config, e.line, x.Config.replace(e, keyEnv).secretly())
		case strings.TrimSpace(c.Getenv(e.value)) == "":
			return change(fmt.Sprintf("env_key names %s, which is not set: Codex ends with an error", e.value), "export "+e.value+"=... in the shell that starts Codex").
				at(x.Config, e.line)
		}
	}
	if e := x.provided("experimental_bearer_token"); e != nil && isScheme(e.value) {
		return change(`experimental_bearer_token begins with "Bearer ": the upstream gets "Bearer Bearer"`, "leave the key alone in it, or better: env_key and a variable").
			at(x.Config, e.line)
	}
	if f := x.wrongHeader(c.Getenv); f != nil {
		return f
	}
	if !x.isReadable() {
		return nil
	}
	return ok(x.keyFrom())
}

// keyFrom says how the chosen provider gets its key.
func (x *Codex) keyFrom() string {
	if e := x.provided("env_key"); e != nil {
		return "from " + e.value
	}
	if name := x.ownKey(); name != "" {
		return "by " + name
	}
	if x.providerID() == builtIn {
		return "from codex login, or CODEX_API_KEY"
	}
	return "none is sent: fine for a local server"
}

// wrongHeader finds an Authorization of one's own that lacks its scheme.
func (x *Codex) wrongHeader(getenv func(string) string) *Finding {
	id := x.providerID()
	for _, e := range x.Config.within("model_providers", id, "*", "*") {
		if !strings.EqualFold(e.name(), "Authorization") {
			continue
		}
		value := e.value
		switch e.path[2] {
		case "http_headers":
		case "env_http_headers":
			value = getenv(e.value)
		default:
			continue
		}
		if value == "" || strings.Contains(value, " ") {
			continue // a scheme and what belongs to it
		}
		return change(fmt.Sprintf("%s sends the key as Authorization without its scheme", e.path[2]),
			fmt.Sprintf(`take the line out and set env_key = %q, which sends "Authorization: Bearer" and the key`, keyEnv)).at(x.Config, e.line)
	}
	return nil
}

// notOfProjects are the settings that Codex ignores in a project's config.
var notOfProjects = []string{"openai_base_url", "chatgpt_base_url", "model_provider", "model_providers", "profile", "profiles"}

// checkProject looks at the config of the folder that one works in.
func checkProject(c *Case) *Finding {
	file := c.Codex.Project
	if file == nil {
		return nil
	}
	if file.broken != "" {
		return change(fmt.Sprintf("line %d of %s is no TOML", file.line, file.Path), "put right: "+file.broken).at(file, file.line)
	}
	for _, e := range file.entries {
		if slices.Contains(notOfProjects, e.path[0]) {
			return change(fmt.Sprintf("Codex 0.171 ignores %s in a project's config", e.path[0]), "move it to config.toml in the home folder of Codex").
				at(file, e.line)
		}
	}
	return ok("nothing in it that Codex would ignore")
}

// checkIgnoredBase finds a base URL that this version of Codex does not read.
func checkIgnoredBase(c *Case) *Finding {
	x := &c.Codex
	if e := x.top("openai_base_url"); e != nil && x.providerID() == builtIn && x.release() <= lastWithoutBase {
		return change(x.label()+" ignores openai_base_url", "export "+baseEnv+"="+cleanBase(e.value)).at(x.Config, e.line)
	}
	env := cleanBase(c.Getenv(baseEnv))
	switch {
	case env == "":
		return nil
	case x.release() <= lastWithEnv && x.providerID() == builtIn:
		return ok(x.label() + " takes it from " + baseEnv)
	case x.base() != nil && cleanBase(x.base().value) == env:
		return ok(baseEnv + " and Codex' config agree")
	case x.base() != nil:
		return ok(fmt.Sprintf("Codex takes %s of its config; %s, which is another, is for other clients alone", x.base().name(), baseEnv))
	case x.Version == "" && x.Config == nil:
		return ok(baseEnv+" is set; this is for other clients", "Codex from 0.125 on ignores it: there, openai_base_url = \""+env+"\" in config.toml")
	case x.HeedsBaseEnv():
		return change(x.label()+" may ignore "+baseEnv+": 0.115 still took it, 0.125 did not", overrideBase(env)...)
	}
	return change(x.label()+" ignores "+baseEnv, overrideBase(env)...)
}

func overrideBase(base string) []string {
	return []string{fmt.Sprintf("openai_base_url = %q at the top of config.toml, before every table", base)}
}
