package doctor

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanKey is a key without what people copy along with it; "" where there is
// none or only a placeholder.
func cleanKey(key string) string {
	if placeholder(key) {
		return ""
	}
	for before := ""; before != key; {
		before = key
		key = strings.TrimFunc(strings.TrimSpace(key), isQuote)
		if isScheme(key) {
			key = key[len(scheme):]
		}
	}
	if strings.ContainsFunc(key, unspeakable) {
		return "" // no header takes it
	}
	return key
}

// scheme is what a client puts before the key.
const scheme = "Bearer "

func isScheme(key string) bool {
	return len(key) >= len(scheme) && strings.EqualFold(key[:len(scheme)], scheme)
}

func isQuote(r rune) bool { return strings.ContainsRune("\"'`“”‘’", r) }

func unspeakable(r rune) bool { return r > unicode.MaxASCII || r < '!' }

// dummies are what documentation puts in the place of a key.
var dummies = regexp.MustCompile(`(?i)^["']?(bearer )?(sk-)?(<.*>|\[.*\]|\{.*\}|\$\{?\w+\}?|%\w+%|x{3,}[x-]*|\*{3,}|\.{3,}|…|your[-_ ].*|my[-_ ]?(api[-_ ]?)?key|(api|openai)[-_ ]?(api[-_ ]?)?key([-_ ]here)?|change[-_ ]?me|todo|placeholder|key[-_ ]here|none|null|undefined|test|dummy|1234567?8?9?0?)["']?$`)

func placeholder(key string) bool {
	return dummies.MatchString(strings.TrimSpace(key))
}

var (
	variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)
	dense    = regexp.MustCompile(`^[A-Z0-9]{16,}$`)
)

// isVariable says whether a text names a variable. When in doubt it may be a key,
// and is not to be shown.
func (c *Case) isVariable(s string) bool {
	return variable.MatchString(s) && !dense.MatchString(s) || c.Getenv(s) != ""
}

// keyRules are what a key may break, each with what would be right.
var keyRules = []struct {
	broken      func(string) bool
	words, cure string
}{
	{func(k string) bool { return isScheme(strings.TrimFunc(strings.TrimSpace(k), isQuote)) },
		`begins with "Bearer ": the client puts that before the key itself, so the upstream gets "Bearer Bearer"`,
		"give the key alone"},
	{func(k string) bool { return strings.ContainsFunc(strings.TrimSpace(k), isQuote) },
		"has quotes in it", "give the key without quotes; in a .env file or a container's settings they are taken as part of it"},
	{func(k string) bool { return strings.TrimSpace(k) != k },
		"has blanks or a line end around it", "copy it again without them; from a file: $(tr -d '[:space:]' < FILE)"},
	{func(k string) bool { return strings.ContainsFunc(k, unspeakable) },
		"has blanks or characters in it that no header takes", "copy the key again, whole and by itself"},
}

// checkKey looks at the key itself. Of it, only the length is ever told.
func checkKey(c *Case) *Finding {
	name, key := c.secret.source, c.secret.value
	set := "export " + name + "=... with the key from the upstream's console"
	switch {
	case strings.TrimSpace(key) == "" && c.ownKey() != "":
		return unchecked("Codex has its own, by "+c.ownKey()+", which is not read: requests here go without",
			"to check those too, put a key into "+name)
	case strings.TrimSpace(key) == "" && isLoopbackURL(c.first):
		return ok(name + " is not set; a server on this machine may need none")
	case strings.TrimSpace(key) == "":
		return change(name+" is not set, so there is no key", set)
	case placeholder(key):
		return change(name+" holds a placeholder, not a key", set)
	}
	for _, rule := range keyRules {
		if rule.broken(key) {
			return change(fmt.Sprintf("%s %s", name, rule.words), rule.cure)
		}
	}
	return ok(fmt.Sprintf("%s, %d characters", name, utf8.RuneCountInString(key)))
}

// ownKey names how Codex comes by a key without the variable that is looked at, ""
// where it does not.
func (c *Case) ownKey() string {
	if c.KeyEnv != "" || c.Codex.provided("env_key") != nil {
		return ""
	}
	return c.Codex.ownKey()
}
