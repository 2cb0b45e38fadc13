package experiment

import "testing"

// A user agent that is taken for a step's is what names that step, but for leading
// noughts.
func FuzzTag(f *testing.F) {
	f.Add(Tag("v1", "01JZZZZZZZZZZZZZZZZZZZZZZZ", 12))
	f.Add("ttftap-probe/ (experiment ; step -1)")
	f.Fuzz(func(t *testing.T, agent string) {
		id, step, ok := ReadTag(agent)
		if !ok {
			return
		}
		again, n, ok := ReadTag(Tag("v1", id, int(step)))
		if !ok || again != id || n != step || step < 0 {
			t.Errorf("%q is step %d of %q, and again %d of %q", agent, step, id, n, again)
		}
	})
}
