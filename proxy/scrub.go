package proxy

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lengths to which foreign text is cut before it is kept.
const (
	clipped   = 200
	maxPath   = 2000
	longToken = 16
	keyLength = 20 // of a part of a path that is no name any more
	wordMost  = 64 // bytes of a text in a usage object
)

var (
	// harmless are the query parameters whose values are kept, if they look as
	// they should: they tell versions apart.
	harmless = map[string]bool{"api-version": true, "client_version": true, "limit": true, "order": true, "beta": true}
	plain    = regexp.MustCompile(`^[\w.-]{1,32}$`)
	token    = regexp.MustCompile(`[A-Za-z0-9_\-.*+/=]+`)
	prefixed = regexp.MustCompile(`(?i)^(?:sk|pk|rk|ak|xai|gsk|aiza|eyj|ghp|hf)[-_*A-Za-z0-9]{6,}`)
	quotes   = strings.NewReplacer(`\u0022`, `"`, `\u0027`, `'`, `%22`, `"`, `%27`, `'`) // as they come out of what was quoted twice
)

// scrub makes an upstream's message fit to keep: no secret, nothing between
// quotes, which may be a prompt, nothing like a key, and at most 200 characters.
func scrub(s string, secrets *secrets) string {
	s = quotes.Replace(html.UnescapeString(s))
	wasCut := strings.HasSuffix(s, "…")
	s = token.ReplaceAllStringFunc(unquoted(secrets.hide(s), wasCut), keyless)
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
// prompts hold quotes of their own. Where one is not closed, or the text was cut,
// what is behind the last may be within quotes too. An apostrophe within a word is
// none.
func unquoted(s string, wasCut bool) string {
	first, last, count := -1, -1, 0
	for i, r := range s {
		if strings.ContainsRune("\"`“”„‟«»「」『』‘‹›", r) || (r == '\'' || r == '’') && !insideWord(s, i, r) {
			if first < 0 {
				first = i
			}
			last = i + utf8.RuneLen(r)
			count++
		}
	}
	switch {
	case first < 0:
		return s
	case count%2 == 1 || wasCut:
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

// withoutText is a JSON value in which no string is more than a word: the names of
// fields are, and what vendors put beside the counts.
func withoutText(json string) string {
	var b strings.Builder
	from := 0
	for at := 0; at < len(json); at++ {
		if json[at] != '"' {
			continue
		}
		end := at + 1
		for end < len(json) && isWordByte(json[end]) {
			end++
		}
		if end < len(json) && json[end] == '"' && end-at <= wordMost {
			at = end
			continue
		}
		for end < len(json) && json[end] != '"' {
			if json[end] == '\\' {
				end++
			}
			end++
		}
		b.WriteString(json[from:at] + `"…"`)
		from, at = min(end+1, len(json)), end
	}
	return b.String() + json[from:]
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_-.:/", c) >= 0
}

// scrubPath is a path without what may be a key: some gateways take one there.
func scrubPath(path string) string {
	for part := range strings.SplitSeq(path, "/") {
		if len(part) >= keyLength && prefixed.MatchString(part) {
			path = strings.ReplaceAll(path, part, "…")
		}
	}
	return path
}

// scrubTarget is a request target without the values of its query.
func scrubTarget(path, query string) string {
	path = scrubPath(path)
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
