package simulator

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

func TestHeadersComeAtTheStageSet(t *testing.T) {
	c := Config{Profiles: []Profile{{Name: "m", Slots: 1, Cache: Cache{Min: 1000}, Behaviour: plain}}}
	for value, want := range map[string]time.Duration{
		"headers=accept": 60 * ms,
		"headers=slot":   790 * ms, // the request before leaves the slot
		"headers=token":  1290 * ms,
		"":               790 * ms,
	} {
		t.Run(value, func(t *testing.T) {
			each(t, c, func(b *bench, a api) {
				go b.post(a.path, a.of(text(500)), "")
				time.Sleep(10 * ms)
				got := b.post(a.path, a.of(text(500)), value)
				equal(b.t, "headers", got.headers, want)
				equal(b.t, "first token", a.shown(got.messages)[0].at, 1290*ms)
			})
		})
	}
}

// stamped is a ResponseWriter that notes when how many bytes were written.
type stamped struct {
	*httptest.ResponseRecorder
	start time.Time
	at    []time.Duration
	sizes []int
}

func (w *stamped) Write(b []byte) (int, error) {
	w.at, w.sizes = append(w.at, time.Since(w.start)), append(w.sizes, len(b))
	return w.ResponseRecorder.Write(b)
}

// directly asks a server without a connection in between.
func directly(t *testing.T, how Behaviour) *stamped {
	w := &stamped{ResponseRecorder: httptest.NewRecorder()}
	synctest.Test(t, func(t *testing.T) {
		w.start = time.Now()
		body := `{"model":"m","stream":true,"messages":[{"content":"hello"}]}`
		New(one(how)).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/chat/completions", strings.NewReader(body)))
	})
	return w
}

func TestHopPassesBlocksOfBytesOn(t *testing.T) {
	whole := directly(t, plain).Body.String()
	hop := plain
	hop.HopBytes = 500
	w := directly(t, hop)
	last := len(w.sizes) - 1
	for i, n := range w.sizes[:last] {
		if n%500 != 0 {
			t.Errorf("write %d has %d bytes, want a multiple of 500", i, n)
		}
	}
	if got := w.Body.String(); got != whole {
		t.Errorf("the hop changed the stream from %q to %q", whole, got)
	}
	equal(t, "last bytes", w.at[last], 302*ms) // 60 + 40, 2 prompt tokens, 10 tokens
}

func TestHopHoldsBytesForItsTime(t *testing.T) {
	hop := plain
	hop.HopTime = 70 * ms
	w := directly(t, hop)
	// The head of the stream is held from 100 ms on; tokens come from 102 ms on,
	// the one at 182 ms being the first after a release at 170 ms, and so on.
	want := []time.Duration{170 * ms, 252 * ms, 302 * ms}
	if diff := cmp.Diff(want, w.at); diff != "" {
		t.Error(diff)
	}
}

func TestPseudoStreamIsSentAtItsEnd(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		got := b.post(a.path, a.of(text(500)), "pseudo")
		equal(b.t, "headers", got.headers, 100*ms)
		for _, m := range got.messages {
			equal(b.t, "message", m.at, 800*ms)
		}
		if n := len(a.shown(got.messages)); n != 10 {
			b.t.Errorf("%d messages show text, want 10", n)
		}
	})
}

func TestPingsBreakEachSilence(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		got := b.post(a.path, a.of(text(500)), "ping=150ms, headers=accept, floor=500ms")
		var pings []time.Duration
		for _, m := range got.messages {
			if m.comment != "" || m.name == "ping" {
				pings = append(pings, m.at)
			}
		}
		// Accepted at 60 ms, opened at 560 ms, first token at 1060 ms.
		want := []time.Duration{210 * ms, 360 * ms, 510 * ms, 710 * ms, 860 * ms, 1010 * ms}
		if a.name == "completions" { // nothing opens its stream
			want = []time.Duration{210 * ms, 360 * ms, 510 * ms, 660 * ms, 810 * ms, 960 * ms}
		}
		if diff := cmp.Diff(want, pings); diff != "" {
			b.t.Error(diff)
		}
	})
}

func TestProgressIsToldAsThePromptIsRead(t *testing.T) {
	inBubble(t, one(plain), func(b *bench) {
		chat := apis[1]
		got := b.post(chat.path, chat.of(text(5000), object{"return_progress": true}), "")
		type told struct {
			At                time.Duration
			Processed, TimeMS int64
		}
		var progress []told
		for _, m := range got.messages {
			if p := m.get("prompt_progress"); p.Exists() {
				progress = append(progress, told{m.at, p.Get("processed").Int(), p.Get("time_ms").Int()})
			}
		}
		want := []told{{100 * ms, 0, 0}, {2148 * ms, 2048, 2048}, {4196 * ms, 4096, 4096}, {5100 * ms, 5000, 5000}}
		if diff := cmp.Diff(want, progress); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCutStreamBreaksWithoutItsEnd(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		got := b.post(a.path, a.of(text(500)), "mishap=cut, at=3")
		if got.err == nil {
			b.t.Error("the stream ended as if it were complete")
		}
		if n := len(a.shown(got.messages)); n != 3 {
			b.t.Errorf("%d tokens came, want 3", n)
		}
		equal(b.t, "cut", got.end, 660*ms)
		if truth := b.truth(); truth.Outcome != "upstream_cut" || truth.OutputTokens != 3 {
			b.t.Errorf("truth tells %s after %d tokens", truth.Outcome, truth.OutputTokens)
		}
	})
}

func TestErrorEventEndsTheStreamInItsOwnShape(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		got := b.post(a.path, a.of(text(500)), "mishap=error, at=3, hop=100000")
		last := got.messages[len(got.messages)-1]
		said := last.get("error.message").Str + last.get("response.error.message").Str
		if said != "the model stopped working" || a.done(last) || got.err != nil {
			b.t.Errorf("the stream ends with %q, error %v", last.data, got.err)
		}
		equal(b.t, "end", got.end, 660*ms)
		if truth := b.truth(); truth.Outcome != "error_event" || truth.Status != 200 {
			b.t.Errorf("truth tells %s with status %d", truth.Outcome, truth.Status)
		}
	})
}

func TestErrorBeforeTheHeadIsAStatus(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		got := b.post(a.path, a.of(text(500), object{"stream": false}), "mishap=error")
		if got.status != 500 || !got.body.Get("error.message").Exists() {
			b.t.Errorf("status %d, body %s", got.status, got.body.Raw)
		}
	})
}

// events are the data of a stream's messages, for structural checks.
func events(all []message) []gjson.Result {
	var list []gjson.Result
	for _, m := range all {
		if m.comment == "" && m.data != "[DONE]" {
			list = append(list, gjson.Parse(m.data))
		}
	}
	return list
}
