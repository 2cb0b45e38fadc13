package doctor_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/doctor"
)

// broken is a set-up whose log tells of these answers.
func broken(t *testing.T, aborts ...doctor.Abort) *patient {
	p := healthy(serve(t, model()) + "/v1")
	p.Aborts = aborts
	return p
}

// left are answers that a client left after so many seconds.
func left(client string, seconds ...float64) []doctor.Abort {
	var all []doctor.Abort
	for _, s := range seconds {
		all = append(all, doctor.Abort{After: time.Duration(s * float64(time.Second)), ByClient: true, Client: client})
	}
	return all
}

func TestAbortsAtTheIdleLimitOfCodexNameIt(t *testing.T) {
	aborts := left("codex_exec/0.171.0", 312, 455, 640.2)
	for i := range aborts {
		aborts[i].Silence = new(300*time.Second + time.Duration(i)*time.Millisecond)
	}
	broken(t, aborts...).finds(t, "aborts", doctor.Change, "3 of 3 times the client leaves", "of silence", "the idle limit of Codex", "stream_idle_timeout_ms = 900000")
}

func TestAbortsAtALimitOfTheConfigNameItsLine(t *testing.T) {
	p := configured(t, today, goodConfig+"stream_idle_timeout_ms = 20_000\n")
	for _, a := range left("codex_exec/0.171.0", 31, 42, 77) {
		a.Silence = new(20*time.Second + 40*time.Millisecond)
		p.Aborts = append(p.Aborts, a)
	}
	p.finds(t, "aborts", doctor.Change, "stream_idle_timeout_ms of Codex' config, line 9", "stream_idle_timeout_ms = 900000")
}

func TestAbortsAtTheLimitOfAnSDKNameIt(t *testing.T) {
	broken(t, left("OpenAI/Python", 600.1, 600.2, 600.1, 41)...).finds(t, "aborts", doctor.Change, "3 of 4 times", "in all", "OpenAI's and Anthropic's SDKs", "timeout=1800")
}

func TestCutsOfTheUpstreamAtOneDurationNameTheHop(t *testing.T) {
	aborts := left("", 60, 60.1, 60.05)
	for i := range aborts {
		aborts[i].ByClient = false
	}
	broken(t, aborts...).finds(t, "aborts", doctor.Change, "the upstream, or a hop before it, breaks off", "nginx", "proxy_read_timeout")
}

func TestAbortsAtALimitThatNobodyKnowsAreToldAllTheSame(t *testing.T) {
	broken(t, left("curl/8", 47, 47.1, 47.2)...).finds(t, "aborts", doctor.Change, "after 47.1 s", "a limit of the client's")
}

func TestAPersonWhoLeavesIsNoLimit(t *testing.T) {
	broken(t, left("codex_exec/0.171.0", 1, 1.1, 1.2, 1.3, 15, 33, 71)...).finds(t, "aborts", doctor.OK, "no common duration")
}

func TestWithoutALogAbortsAreSkipped(t *testing.T) {
	p := broken(t)
	p.NoLog = "there is no log yet"
	p.finds(t, "aborts", doctor.OK, "skipped: there is no log yet")
}

func TestAbortsFarApartAreNeverACluster(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(r, "aborts")
		at, seconds := 11.0, []float64{}
		for range n {
			at *= rapid.Float64Range(1.11, 2).Draw(r, "factor")
			seconds = append(seconds, at)
		}
		s := doctor.Setup{Aborts: left("c", seconds...), Getenv: func(string) string { return "" }}
		s.Upstream = "nowhere" // nothing is asked
		for _, f := range doctor.New(s).Findings() {
			if f.Check == "aborts" && f.State != doctor.OK {
				r.Errorf("%v: %s", seconds, f.Words)
			}
		}
	})
}
