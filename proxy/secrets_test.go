package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// However much of a secret a text repeats, in any case, too little is left of it to
// be of use.
func TestNoRunOfASecretIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9+/_.=-]{8,60}`).Draw(t, "secret")
		piece := rapid.Custom(func(t *rapid.T) string {
			from := rapid.IntRange(0, len(secret)).Draw(t, "from")
			part := secret[from:rapid.IntRange(from, len(secret)).Draw(t, "to")]
			return rapid.SampledFrom([]string{part, strings.ToUpper(part), strings.ToLower(part), "key ", "é", "\xff", " "}).Draw(t, "piece")
		})
		text := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "text"), "")
		s := secrets{keys: []string{secret}}
		left := lower(s.hide(text))
		for i := range len(secret) - inCommon + 1 {
			if run := lower(secret[i : i+inCommon]); strings.Contains(left, run) {
				t.Fatalf("%q of %q is left in %q", run, secret, left)
			}
		}
		if other := rapid.StringMatching(`[é ]{0,20}`).Draw(t, "other"); s.hide(other) != other {
			t.Fatalf("%q has become %q", other, s.hide(other))
		}
	})
}

func TestSecretsOfEveryRoad(t *testing.T) {
	h := http.Header{}
	for name, value := range map[string]string{
		"Authorization": "Bearer of-authorization", "Proxy-Authorization": "Basic dXNlcjpvZi1iYXNpYy1hdXRo", "Cookie": "a=1; session=of-a-cookie",
		"X-Goog-Api-Key": "of-google", "Ocp-Apim-Subscription-Key": "of-azure", "X-Any-Token": "of-anybody",
		"Sec-Websocket-Protocol": "realtime, openai-insecure-api-key.of-a-browser", "User-Agent": "no-secret/1.0",
	} {
		h.Set(name, value)
	}
	s := secretsOf(&http.Request{Header: h}, "key=of-the%2Bquery&sig=of-a;signature=of-b&q=asked&word")
	for _, want := range []string{
		"of-authorization", "of-basic-auth", "of-a-cookie", "of-google", "of-azure", "of-anybody", "of-a-browser", "of-the+query", "of-a", "of-b",
	} {
		if !slices.Contains(s.keys, want) {
			t.Errorf("%s is missing: %q", want, s.keys)
		}
	}
	if !slices.Equal(s.asked, []string{"asked", "word"}) || slices.Contains(s.keys, "no-secret/1.0") {
		t.Errorf("asked %q, keys %q", s.asked, s.keys)
	}
}

func TestAShortCredentialIsTakenForAWordInNames(t *testing.T) {
	s := secrets{keys: []string{"ollama", "a-credential-of-its-own"}}
	x := exchange.Exchange{ModelServed: "ollama/llama3", RequestID: "req a-credential-of-its-own"}
	x.UsageRaw = `{"a-credential-of-its-own":1}`
	s.leaveOut(&x)
	if x.ModelServed != "ollama/llama3" || x.RequestID != "req …" || x.UsageRaw != `{"…":1}` {
		t.Errorf("kept: %+v", x)
	}
}

func TestQuotedSpansAreTakenOutHoweverTheyAreQuoted(t *testing.T) {
	for text, want := range map[string]string{
		`no "a prompt" here`:                     "no … here",
		`no "a prompt" and "half of another`:     "no …",
		`no "a prompt" and the rest was cut…`:    "no …",
		`no &quot;a prompt&quot; here`:           "no … here",
		`no &#34;a prompt&#34; here`:             "no … here",
		`no \u0022a prompt\u0022 here`:           "no … here",
		`no %22a prompt%22 here`:                 "no … here",
		`no {\"input\": \"a prompt\"} here`:      `no {\…} here`,
		`it's the model's limit`:                 "it's the model's limit",
		`no «a prompt» and 'another' there`:      "no … there",
		"no `a \"prompt\"` here":                 "no … here",
		`Incorrect API key provided: sk-proj-1a`: "Incorrect API key provided: …",
	} {
		if got := scrub(text, &secrets{}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestOfAUsageObjectOnlyWordsAndNumbersAreKept(t *testing.T) {
	for raw, want := range map[string]string{
		`{"prompt_tokens":3,"tier":"default","ratio":1.5,"none":null,"all":[true,{}]}`: `{"prompt_tokens":3,"tier":"default","ratio":1.5,"none":null,"all":[true,{}]}`,
		`{"note":"what a model said","n":1}`:                                           `{"note":"…","n":1}`,
		`{"what a model said":1}`:                                                      `{"…":1}`,
		`{"a":"\"said\\","b":"c"}`:                                                     `{"a":"…","b":"c"}`,
		`{"a":"` + strings.Repeat("x", 65) + `"}`:                                      `{"a":"…"}`,
		"": "",
	} {
		if got := withoutText(raw); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func TestAKeyInThePathIsNotKept(t *testing.T) {
	for path, want := range map[string]string{
		"/sk-proj-0123456789abcdef/v1/chat/completions": "/…/v1/chat/completions",
		"/v1/responses/resp_0123456789abcdef0123456789": "/v1/responses/resp_0123456789abcdef0123456789",
		"/v1/skills/create":                             "/v1/skills/create",
		"//x":                                           "//x",
	} {
		if got := scrubTarget(path, ""); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// A line that is no header may be part of an answer.
func TestWhatIsNoHeaderIsNotQuoted(t *testing.T) {
	var f flight
	err := &net.OpError{Op: "read", Err: fmt.Errorf("broken: %w", textproto.ProtocolError("malformed MIME header line: what a model said"))}
	for _, err := range []error{err, errors.Unwrap(err)} {
		if got := f.cause(err); got != "malformed MIME header line" {
			t.Errorf("%q", got)
		}
	}
}

// Whoever has the log but not the key cannot find it by trying keys without the
// install's secret.
func TestKeyIDsAreHashesKeyedByTheInstall(t *testing.T) {
	one, two := Proxy{config: Config{Secret: []byte("one")}}, Proxy{config: Config{Secret: []byte("two")}}
	mac := hmac.New(sha256.New, []byte("one"))
	mac.Write([]byte("a key"))
	if got, want := one.keyID("a key"), hex.EncodeToString(mac.Sum(nil)[:6]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if one.keyID("a key") == two.keyID("a key") || one.keyID("a key") == one.keyID("another") || one.keyID("") != "" {
		t.Errorf("ids %s, %s, %s, %q", one.keyID("a key"), two.keyID("a key"), one.keyID("another"), one.keyID(""))
	}
}
