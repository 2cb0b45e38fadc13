package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// checkProvider looks at which provider Codex is told to use, and whether there
// is such a one. The first fault is told: the next run tells the next.
func checkProvider(c *Case) *Finding {
	if !c.Codex.isReadable() {
		return nil
	}
	for _, fault := range []func(*Codex) *Finding{redefined, misplaced, namedProfile, undefined} {
		if f := fault(&c.Codex); f != nil {
			return f
		}
	}
	return ok(c.Codex.providerID())
}

// redefined finds a provider of one's own that has the name of one of Codex'.
func redefined(x *Codex) *Finding {
	for _, id := range reserved {
		all := x.Config.within("model_providers", id)
		if len(all) == 0 {
			continue
		}
		own := id + "-custom"
		f := change(fmt.Sprintf("[model_providers.%s] has the name of a built-in provider: Codex 0.171 does not start, older ones ignore the table", id),
			fmt.Sprintf("[model_providers.%s] and, at the top, model_provider = %q", own, own))
		return f.at(x.Config, all[0].line, x.renamed(id, own)...)
	}
	return nil
}

// renamed are the edits that give a provider another name, nil where the config
// does not choose it by name: a line alone would not do then.
func (x *Codex) renamed(id, own string) []Edit {
	chosen := x.top("model_provider")
	if chosen == nil || chosen.value != id {
		return nil
	}
	edits := []Edit{x.Config.replace(chosen, own)}
	for _, e := range x.Config.within("model_providers", id) {
		text := string(x.Config.text[e.from:e.to])
		prefix := "model_providers." + id
		if !e.head {
			continue
		}
		if !strings.HasPrefix(text, prefix) {
			return nil // written in another way
		}
		edits = append(edits, Edit{e.from, e.from + len(prefix), "model_providers." + own, "[" + text + "]", "[model_providers." + own + text[len(prefix):] + "]"})
	}
	if len(edits) == 1 {
		return nil
	}
	return edits
}

// atTop are the settings that mean nothing within a table.
var atTop = []string{"model_provider", "openai_base_url"}

// misplaced finds a setting below the head of a table, to which it then belongs.
func misplaced(x *Codex) *Finding {
	for _, e := range x.Config.within("*", "*") {
		if e.head || !slices.Contains(atTop, e.name()) || e.path[0] == "profiles" || x.top(e.name()) != nil {
			continue
		}
		table := strings.Join(e.path[:len(e.path)-1], ".")
		return change(fmt.Sprintf("%s stands below [%s] and is taken as part of it: Codex does not see it", e.name(), table),
			fmt.Sprintf("move the line to the top, before every table: %s = %q", e.name(), e.openly())).
			at(x.Config, e.line, x.Config.move(e)...)
	}
	return nil
}

// namedProfile finds a profile chosen in the old way.
func namedProfile(x *Codex) *Finding {
	e := x.top("profile")
	if e == nil || x.release() < firstWithoutNamed {
		return nil
	}
	return change(fmt.Sprintf("profile = %q is an error for Codex 0.171", e.value),
		fmt.Sprintf("take the line out, put the profile's settings into %s.config.toml beside it, and start codex --profile %s", e.value, e.value)).
		at(x.Config, e.line)
}

// undefined finds a provider that is chosen and not there.
func undefined(x *Codex) *Finding {
	chosen := x.top("model_provider")
	if chosen == nil || isBroughtAlong(chosen.value) || len(x.Config.within("model_providers", chosen.value)) > 0 {
		return nil
	}
	words := fmt.Sprintf("model_provider = %q, but there is no [model_providers.%s]: Codex does not start", chosen.value, chosen.value)
	if like := nearest(chosen.value, x.defined()); like != "" {
		return change(words, fmt.Sprintf("model_provider = %q", like)).at(x.Config, chosen.line, x.Config.replace(chosen, like))
	}
	return change(words, fmt.Sprintf("add the table: [model_providers.%s] with name, base_url and env_key", chosen.value)).at(x.Config, chosen.line)
}

// defined are the providers of one's own.
func (x *Codex) defined() []string {
	var ids []string
	for _, e := range x.Config.within("model_providers", "*") {
		if id := e.path[1]; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// checkWireAPI looks at every provider: Codex refuses the whole config for one.
func checkWireAPI(c *Case) *Finding {
	all := c.Codex.Config.within("model_providers", "*", "wire_api")
	for _, e := range all {
		switch {
		case e.value == "responses", e.value == "chat" && c.Codex.release() <= lastWithChat:
			continue
		case e.value == "chat":
			return change(fmt.Sprintf(`wire_api = "chat" of %q: Codex from 0.98 on does not start with it`, e.path[1]), c.insteadOfChat()...).
				at(c.Codex.Config, e.line, c.Codex.Config.replace(e, "responses"))
		}
		return change(fmt.Sprintf("wire_api = %q of %q: there is no such format", e.value, e.path[1]), `wire_api = "responses"`).
			at(c.Codex.Config, e.line, c.Codex.Config.replace(e, "responses"))
	}
	if len(all) == 0 {
		return nil
	}
	return ok(all[0].value)
}

func (c *Case) insteadOfChat() []string {
	advice := []string{`wire_api = "responses"`}
	if responses, chat := c.at(responsesAsk), c.chat(); !responses.speaks() && chat.speaks() {
		advice = append(advice, "this upstream answers chat alone: Codex needs another one, see the wire format below")
	}
	return advice
}
