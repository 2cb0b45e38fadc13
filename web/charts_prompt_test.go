package web

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestWhatIsLeftOutOfThePromptsIsCountedByWhy(t *testing.T) {
	all := crowd(8)
	all[0].FirstToken = nil
	all[1].Delivery = exchange.Pseudo
	all[2].Delivery = exchange.Bursty
	all[3].Uncached = nil
	all[4].CacheDenied = true
	ch := gathered(all).charts(onCanvas(query{}))[0]
	want := "Left out: 1 without a first token, 2 that something buffered, 2 whose cached tokens are unreported."
	if got := ch.Notes[len(ch.Notes)-1]; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(linksOf(ch.Picture)); n != 3 || !strings.HasSuffix(ch.Unit, "n 3") {
		t.Errorf("%d marks, %q", n, ch.Unit)
	}
}

func TestAPromptIsDrawnWithTheShapeOfItsBound(t *testing.T) {
	all := crowd(7)
	all[6].Bound = "" // as an older log may have it
	ch := gathered(all).charts(onCanvas(query{}))[0]
	var shapes, words []string
	for _, g := range ch.Picture.Groups {
		shapes = append(shapes, g.Shape)
	}
	for _, k := range ch.Keys {
		words = append(words, k.Word+" "+k.URL)
	}
	if diff := cmp.Diff([]string{"prefill", "decode", "wait", "mixed", "stalled", "unknown"}, shapes); diff != "" {
		t.Errorf("shapes (-want +got):\n%s", diff)
	}
	if len(words) != 6 || words[0] != "Prefill /-/?bound=prefill" {
		t.Errorf("keys %q", words)
	}
	if n := strings.Count(string(ch.Picture.Groups[5].Marks), "<a "); n != 2 {
		t.Errorf("%d marks of an unknown bound", n)
	}
}

// onePrompts are the prompts' chart of n exchanges of one model, with what is
// usual for it.
func onePrompts(n int, usual ...*diagnosis.Baseline) chart {
	all := crowd(n)
	for i := range all {
		all[i].Model = "model-3"
	}
	cv := onCanvas(query{})
	cv.full, cv.usual = false, usual
	return gathered(all).promptChart(cv)
}

func TestTheUsualLineBeginsWithTheNetwork(t *testing.T) {
	ch := onePrompts(200, steep("model-3"))
	if n := len(ch.Picture.Lines); n != 1 || ch.Picture.Lines[0].Class != "usual l0" {
		t.Fatalf("lines %+v", ch.Picture.Lines)
	}
	const want = "0.85 s + 80–107 ms / 1k" // 0.8 s and 0.05 s of network
	if got := ch.Picture.Labels[0].Text; got != want {
		t.Errorf("the line says %q, want %q", got, want)
	}
	key := ch.Keys[len(ch.Keys)-1]
	if key.Word != "model-3 usually: "+want+", by 40 requests" || key.URL != "/-/?model=model-3" {
		t.Errorf("key %+v", key)
	}
}

func TestALineIsToldInShort(t *testing.T) {
	curve := func(knots ...diagnosis.Knot) usualLine {
		return usualLine{&diagnosis.Baseline{Curve: &diagnosis.Curve{Floor: 790 * time.Millisecond, Knots: knots}}, 50 * time.Millisecond}
	}
	at := func(tokens int64, ms float64) diagnosis.Knot {
		return diagnosis.Knot{Tokens: tokens, Prefill: *span(ms)}
	}
	for want, line := range map[string]usualLine{
		"0.84 s + 80 ms / 1k":     curve(at(0, 0), at(10_000, 800)),
		"0.84 s + 0–80 ms / 1k":   curve(at(0, 0), at(1000, 0), at(10_000, 720)),
		"0.84 s + 1.4–3.1 s / 1k": curve(at(0, 0), at(1000, 1400), at(2000, 3000), at(3000, 6100)),
		"0.84 s + 2.5 ms / 1k":    curve(at(0, 0), at(1000, 2.5)),
	} {
		if got := line.formula(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWhereThereIsNoLineTheChartSaysWhy(t *testing.T) {
	alike, few := new(diagnosis.Book), new(diagnosis.Book)
	for i := range 9 {
		x := seeded("x", time.Duration(i)*time.Minute, func(x *exchange.Exchange) {
			x.Upstream, x.ModelRequested = "default", "model-3"
			prompted(x, 1000, 0)
			answered(x, 900, 2000, 80)
		})
		alike.Add(x)
		if i < 3 {
			few.Add(x)
		}
	}
	other := steep("model-3")
	other.Upstream = "elsewhere"
	for want, usual := range map[string][]*diagnosis.Baseline{
		"No line: nothing is known yet of what is usual for this model.":     {other},
		"No line: Too few exchanges to tell start, queue and prefill apart":  few.Baselines(),
		"No line: Not enough spread to tell start, queue and prefill apart:": alike.Baselines(),
	} {
		ch := onePrompts(12, usual...)
		if got := strings.Join(ch.Notes, "\n"); !strings.Contains(got, want) || len(ch.Picture.Lines) > 0 {
			t.Errorf("%d lines, %q, want %q", len(ch.Picture.Lines), got, want)
		}
	}
}

func TestEachOfTheModelsWithTheMostMarksHasItsLine(t *testing.T) {
	var usual []*diagnosis.Baseline
	for _, model := range []string{"model-0", "model-1", "model-2", "model-3"} {
		usual = append(usual, steep(model))
	}
	cv := onCanvas(query{})
	cv.usual = usual
	ch := gathered(crowd(700)).promptChart(cv) // four in seven are of model-3
	var names []string
	for _, l := range ch.Picture.Labels {
		names = append(names, l.Text)
	}
	if diff := cmp.Diff([]string{"model-3", "model-0", "model-1"}, names); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	all := crowd(700)
	for i := range all {
		if i >= 20 {
			all[i].Model = "model-3"
		}
	}
	if lines := gathered(all).promptChart(cv).Picture.Lines; len(lines) != 1 {
		t.Errorf("%d lines where nearly all are of one model", len(lines))
	}
}
