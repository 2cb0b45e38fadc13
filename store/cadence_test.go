package store

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestACadenceIsAShortText(t *testing.T) {
	c := &exchange.Cadence{
		Step: 200 * time.Millisecond, First: exchange.Portion{Reasoning: 4},
		Steps: []exchange.Portion{{Reasoning: 40}, {Reasoning: 31, Answer: 12}, {}, {Answer: 52}},
		Gaps:  []exchange.Gap{{From: 400 * time.Millisecond, Took: 210 * time.Millisecond}},
	}
	if got, want := string(cadence{&c}.append(nil)), "200 4+0 40+0 31+12 0 52 | 400+210"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestACadenceOfAnotherFormIsSaidToBeOne(t *testing.T) {
	for _, text := range []string{"", "100", "x 4", "100 4 y", "100 4+ 5", "100 +4", "100 4 | 5+z", "100 4 1e3"} {
		var c *exchange.Cadence
		if err := (cadence{&c}).set(text); err == nil || c != nil {
			t.Errorf("%q is read as %+v", text, c)
		}
	}
	var c *exchange.Cadence
	if err := (cadence{&c}).set("100 4 52"); err != nil || c.Bytes() != 56 {
		t.Errorf("read as %+v: %v", c, err)
	}
	if err := (cadence{&c}).set(nil); err != nil || c != nil {
		t.Errorf("NULL is read as %+v: %v", c, err)
	}
}

func TestTheJSONOfAnExchangeHasItsCadence(t *testing.T) {
	text, err := MarshalExchange(typical(1))
	if err != nil {
		t.Fatal(err)
	}
	_, values := object(t, text)
	if diff := cmp.Diff("100 4"+strings.Repeat(" 31", 42), values["cadence"]); diff != "" {
		t.Errorf("cadence (-want +got):\n%s", diff)
	}
}

func BenchmarkReadCadence(b *testing.B) {
	text := "100 4" + strings.Repeat(" 40+12", 120) + " | 400+210 900+230"
	var c *exchange.Cadence
	b.ReportAllocs()
	for b.Loop() {
		if err := (cadence{&c}).set(text); err != nil {
			b.Fatal(err)
		}
	}
}
