package proxy

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lengths to which foreign text is cut before it is kept.
const (
	clipped = 200
	maxPath = 2000
)

var (
	quoted = regexp.MustCompile("(?s)\"[^\"]*\"?|`[^`]*`?|'[^']*(?:'|$)|“[^”]*”?|«[^»]*»?|「[^」]*」?")
	keyish = regexp.MustCompile(`(?i)\b(?:sk|pk|rk|ak|xai|gsk|aiza|eyj|ghp|hf|bearer|basic|key|token|secret)[-_=:. ]*[a-z0-9*_\-.+/=]{8,}`)
)

// harmless are the query parameters whose values are kept: they are no secrets and
// tell versions apart.
var harmless = map[string]bool{"api-version": true, "client_version": true, "limit": true, "order": true, "beta": true}

// scrub makes an upstream's message fit to keep: no quoted span, which may hold
// a prompt, nothing like a key, and at most 200 characters.
func scrub(s, secret string) string {
	if len(s) > 1<<14 {
		s = s[:1<<14]
	}
	if len(secret) >= 4 {
		s = strings.ReplaceAll(s, secret, "…")
	}
	s = quoted.ReplaceAllString(s, "…")
	s = keyish.ReplaceAllString(s, "…")
	return clip(strings.Join(strings.FieldsFunc(s, isSpaceOrControl), " "))
}

func isSpaceOrControl(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// scrubTarget is a request target without the values of its query.
func scrubTarget(path, query string, hasQuery bool) string {
	if len(path) > maxPath {
		path = cut(path, maxPath)
	}
	if !hasQuery || query == "" {
		return path
	}
	pairs := strings.Split(query, "&")
	for i, p := range pairs {
		name, _, hasValue := strings.Cut(p, "=")
		switch {
		case harmless[name]:
		case hasValue:
			pairs[i] = name + "=…"
		default:
			pairs[i] = "…" // a bare word may be anything
		}
	}
	return cut(path+"?"+strings.Join(pairs, "&"), maxPath)
}

// clip cuts a text to what is kept of foreign text, and makes it valid UTF-8.
func clip(s string) string { return cut(s, clipped) }

// cut shortens s to at most n characters.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "�")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
