package experiment_test

import (
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

func TestATagIsReadAsItWasMade(t *testing.T) {
	id := ulid.Make().String()
	if got, step, ok := experiment.ReadTag(experiment.Tag("1.2.3-dev", id, 17)); got != id || step != 17 || !ok {
		t.Errorf("%q, step %d, %v", got, step, ok)
	}
}

func TestOtherUserAgentsAreNoTags(t *testing.T) {
	for _, agent := range []string{
		"", "curl/8.9", "ttftap-probe/1", "ttftap-probe/1 (experiment x; step 1)",
		"Mozilla/5.0 " + experiment.Tag("1", ulid.Make().String(), 1),
		experiment.Tag("1", ulid.Make().String(), 1) + " more",
		experiment.Tag("1", ulid.Make().String(), 12345678901),
	} {
		if id, step, ok := experiment.ReadTag(agent); ok || id != "" || step != 0 {
			t.Errorf("%q is read as step %d of %q", agent, step, id)
		}
	}
}
