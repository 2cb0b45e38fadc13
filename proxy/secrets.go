package proxy

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const (
	shortest = 6       // bytes of a secret that is looked for: less would hit ordinary words
	inCommon = 8       // bytes in a row that an error must not share with one
	surely   = 12      // bytes of a credential: where ids and names stand, a shorter one may be a word such as "ollama"
	longest  = 4 << 10 // bytes of one that are looked for
)

// secrets are what a request carries and an upstream may repeat. They are held as
// long as the exchange is under way, to be taken out of what is kept of it.
type secrets struct {
	keys  []string // credentials: nothing that is kept may hold one
	asked []string // other values of the query, which may be in no error
}

// isConfidential says whether a header or parameter holds a credential, by a part of
// its name; a few of those belong to none, which does no harm.
func isConfidential(name string) bool {
	for i := range len(name) {
		for _, word := range confidential(name[i] | 0x20) {
			if len(name)-i >= len(word) && strings.EqualFold(name[i:i+len(word)], word) {
				return true
			}
		}
	}
	return strings.EqualFold(name, "sig") || strings.EqualFold(name, "Sec-WebSocket-Protocol")
}

// confidential are the words that begin with a letter. Every header of every request
// is looked at.
func confidential(letter byte) []string {
	switch letter {
	case 'a':
		return []string{"auth"}
	case 'c':
		return []string{"cookie", "credential"}
	case 'k':
		return []string{"key"}
	case 'p':
		return []string{"passw"}
	case 's':
		return []string{"secret", "signature"}
	case 't':
		return []string{"token"}
	}
	return nil
}

// secretsOf are the secrets of a request with this query.
func secretsOf(r *http.Request, query string) (s secrets) {
	for name, values := range r.Header {
		if !isConfidential(name) {
			continue
		}
		for _, v := range values {
			s.keys = append(s.keys, credentials(v)...)
		}
	}
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, hasValue := strings.Cut(pair, "=")
		if !hasValue {
			value = name // a bare word may be anything
		}
		if plain, err := url.QueryUnescape(value); err == nil {
			value = plain
		}
		if isConfidential(name) {
			s.keys = append(s.keys, value)
		} else {
			s.asked = append(s.asked, value)
		}
	}
	return s
}

// credentials are the parts of a header that may be one: of its fields each, and of
// Basic what is encoded in it.
func credentials(header string) []string {
	value := withoutScheme(header)
	all := []string{value}
	if b, err := base64.StdEncoding.DecodeString(value); err == nil {
		_, password, _ := strings.Cut(string(b), ":")
		all = append(all, string(b), password)
	}
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" ,;=:\"", r) }) {
		if part != value {
			all = append(all, part)
		}
		if _, key, ok := strings.Cut(part, "."); ok && strings.HasPrefix(part, "openai-insecure-api-key.") {
			all = append(all, key) // as browsers send it, in Sec-WebSocket-Protocol
		}
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

// leaveOut takes the credentials out of what is kept of an exchange: whoever is
// sent one may repeat it anywhere, as the id of a request or the name of a model.
func (s *secrets) leaveOut(x *exchange.Exchange) {
	for _, field := range []*string{
		&x.Client, &x.SessionID, &x.TurnID, &x.RequestKind, &x.Method, &x.Path, &x.ModelRequested, &x.ModelServed, &x.ServiceTier,
		&x.Error, &x.FinishReason, &x.RequestID, &x.ResponseID, &x.GatewayRequestID, &x.Note, &x.UsageRaw, &x.ServerSource,
	} {
		for _, key := range s.keys {
			if len(key) >= surely && strings.Contains(*field, key) {
				*field = strings.ReplaceAll(*field, key, "…")
			}
		}
	}
}

// hide puts an ellipsis wherever a text has a few characters in a row in common
// with a secret, in any case and in the spellings in which it may be repeated: so
// that neither half of one is left.
func (s *secrets) hide(text string) string {
	low := lower(text)
	hidden := make([]bool, len(text))
	for _, secret := range append(append([]string(nil), s.keys...), s.asked...) {
		if len(secret) >= shortest {
			for _, spelled := range spellings(secret[:min(len(secret), longest)]) {
				mark(hidden, low, lower(spelled))
			}
		}
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			b.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			b.WriteString("…")
		}
	}
	return b.String()
}

// spellings are the ways in which a text is written where it does not stand for
// itself.
func spellings(s string) []string {
	return []string{
		s, url.QueryEscape(s), url.PathEscape(s),
		base64.RawStdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)),
	}
}

// mark marks what a text has in common with a secret.
func mark(hidden []bool, text, secret string) {
	n := min(len(secret), inCommon)
	runs := make(map[string]bool, len(secret))
	for i := range len(secret) - n + 1 {
		runs[secret[i:i+n]] = true
	}
	for i := range len(text) - n + 1 {
		if runs[text[i:i+n]] {
			for k := range n {
				hidden[i+k] = true
			}
		}
	}
}

// lower is a text with the letters of ASCII in lower case: no byte changes its
// place.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
