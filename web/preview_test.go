package web

import (
	"net/http"
	"os"
	"testing"
)

func TestPreview(t *testing.T) {
	if os.Getenv("PREVIEW") == "" {
		t.Skip()
	}
	empty, token := newConfig(t), newConfig(t, telling()...)
	token.Token = "x"
	go http.ListenAndServe("127.0.0.1:8839", New(empty))
	go http.ListenAndServe("127.0.0.1:8840", New(token))
	http.ListenAndServe("127.0.0.1:8838", New(newConfig(t, telling()...)))
}
