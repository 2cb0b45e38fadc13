package proxy_test

import (
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

func TestARequestOfAnExperimentIsKnownByItsUserAgent(t *testing.T) {
	w := onSockets(t, "/v1", answering())
	id := ulid.Make().String()
	_, x := w.exchange("/v1/responses", `{"model":"m"}`, "User-Agent", experiment.Tag("1.0", id, 3))
	if x.Experiment != id || number(x.Step) != 3 || x.Client != "ttftap-probe/1.0" {
		t.Errorf("experiment %q, step %d, client %q", x.Experiment, number(x.Step), x.Client)
	}
	if _, x := w.exchange("/v1/responses", `{"model":"m"}`, "User-Agent", "curl/8.9"); x.Experiment != "" || x.Step != nil {
		t.Errorf("a request like any other is step %d of %q", number(x.Step), x.Experiment)
	}
}
