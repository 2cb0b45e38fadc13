package proxy

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lengths to which foreign text is cut before it is kept.
const (
	clipped   = 200
	maxPath   = 2000
	shortest  = 6 // bytes of a secret that is looked for: less would hit ordinary words
	maxScrub  = 1 << 14
	longToken = 16
)

var (
	// harmless are the query parameters whose values are kept, if they look as
	// they should: they tell versions apart.
	harmless = map[string]bool{"api-version": true, "client_version": true, "limit": true, "order": true, "beta": true}
	plain    = regexp.MustCompile(`^[\w.-]{1,32}$`)
	token    = regexp.MustCompile(`[A-Za-z0-9_\-.*+/=]+`)
	prefixed = regexp.MustCompile(`(?i)^(?:sk|pk|rk|ak|xai|gsk|aiza|eyj|ghp|hf)[-_*A-Za-z0-9]{6,}`)
)

// secretsOf are the credentials that a request carries, by whatever road: an
// upstream may echo them in an error.
func secretsOf(r *http.Request) []string {
	var all []string
	for _, name := range append(credentialHeaders, "Proxy-Authorization") {
		for _, v := range r.Header.Values(name) {
			v = withoutScheme(v)
			all = append(all, v)
			if b, err := base64.StdEncoding.DecodeString(v); err == nil {
				_, password, _ := strings.Cut(string(b), ":")
				all = append(all, string(b), password)
			}
		}
	}
	for _, c := range r.Cookies() {
		all = append(all, c.Value)
	}
	for _, values := range r.URL.Query() {
		all = append(all, values...)
	}
	return all
}

// withoutScheme cuts the scheme off a credential: Bearer, Basic, in any case.
func withoutScheme(v string) string {
	if _, rest, ok := strings.Cut(v, " "); ok {
		return strings.TrimSpace(rest)
	}
	return v
}

// scrub is scrub with the credentials that the request carried.
func (f *flight) scrub(s string) string { return scrub(s, secretsOf(f.request)) }

// scrub makes an upstream's message fit to keep: no secret, nothing between
// quotes, which may be a prompt, nothing like a key, and at most 200 characters.
func scrub(s string, secrets []string) string {
	s = s[:min(len(s), maxScrub)]
	for _, secret := range secrets {
		if len(secret) >= shortest {
			s = strings.ReplaceAll(s, secret, "…")
		}
	}
	s = token.ReplaceAllStringFunc(unquoted(s), keyless)
	return clip(strings.Join(strings.FieldsFunc(s, isSpaceOrControl), " "))
}

// keyless is a word, or an ellipsis for one that may be a key.
func keyless(word string) string {
	letters := strings.ContainsFunc(word, unicode.IsLetter)
	digits := strings.ContainsFunc(word, unicode.IsDigit)
	if prefixed.MatchString(word) || strings.Contains(word, "**") || len(word) >= longToken && letters && digits {
		return "…"
	}
	return word
}

// unquoted takes out all from the first quote to the last: quotes nest, and
// prompts hold quotes of their own. An apostrophe within a word is none.
func unquoted(s string) string {
	first, last := -1, -1
	for i, r := range s {
		if strings.ContainsRune("\"`“”„‟«»「」『』‘‹›", r) || (r == '\'' || r == '’') && !insideWord(s, i, r) {
			if first < 0 {
				first = i
			}
			last = i + utf8.RuneLen(r)
		}
	}
	switch {
	case first < 0:
		return s
	case last-first <= utf8.UTFMax: // a quote that nothing closes
		return s[:first] + "…"
	}
	return s[:first] + "…" + s[last:]
}

func insideWord(s string, i int, r rune) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
	return unicode.IsLetter(before) && unicode.IsLetter(after)
}

func isSpaceOrControl(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// scrubTarget is a request target without the values of its query.
func scrubTarget(path, query string) string {
	if query == "" {
		return cut(path, maxPath)
	}
	pairs := strings.Split(query, "&")
	for i, p := range pairs {
		name, value, hasValue := strings.Cut(p, "=")
		switch {
		case harmless[name] && plain.MatchString(value):
		case hasValue && plain.MatchString(name):
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
	s = strings.ToValidUTF8(s[:min(len(s), n*utf8.UTFMax)], "�")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
