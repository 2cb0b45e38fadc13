package proxy

import (
	"net/http"
	"testing"
)

func TestHeadersAreLookedUpByTheNamesThatGoGivesThem(t *testing.T) {
	for _, names := range [][]string{credentialHeaders, sessionHeaders, requestIDs, gatewayIDs, servedModels, digests} {
		for _, n := range names {
			if want := http.CanonicalHeaderKey(n); n != want {
				t.Errorf("%s is never found: it is called %s", n, want)
			}
		}
	}
}

func TestAKeyHasOneIDHoweverOftenItIsAskedFor(t *testing.T) {
	p := &Proxy{config: Config{Secret: []byte("a secret of this install")}}
	one, other := p.keyID("sk-one"), p.keyID("sk-other")
	if again := p.keyID("sk-one"); one != again || one == other || len(one) != 12 {
		t.Errorf("one key is %q and then %q, another %q", one, again, other)
	}
	if none := p.keyID(""); none != "" {
		t.Errorf("no key is %q", none)
	}
}
