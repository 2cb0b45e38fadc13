package web

import (
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestColumnsAndScaleAreChosenByTheAddress(t *testing.T) {
	page := New(newConfig(t, telling()...))
	body := get(t, page, "/-/?cols=session_id,client&cols=reason&scale=30").Body.String()
	for _, want := range []string{
		`<th scope="col" class="c-extra">session_id</th>`, `<td class="c-extra"><bdi>019ae2-session</bdi></td>`,
		`<th scope="col" class="c-extra">reason</th>`, `>25 s<`, `value="client" checked`, `name="scale" value="30" checked`,
		`colspan="13"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(body, "was left out") {
		t.Error("what the page knows is called unknown")
	}
}

func TestColumnsAndScalesThatAreNoneAreNamed(t *testing.T) {
	page := New(newConfig(t, telling()...))
	body := get(t, page, "/-/?cols=prompt_text&scale=huge").Body.String()
	for _, want := range []string{"cols=prompt_text was left out", "scale=huge was left out"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, scale := range []string{"0", "-5", "NaN", "Inf", "1e300"} {
		if body := get(t, page, "/-/?scale="+scale).Body.String(); !strings.Contains(body, "scale="+scale+" was left out") {
			t.Errorf("a scale of %s is taken", scale)
		}
	}
}

func TestAScaleThatFitsCutsNoBar(t *testing.T) {
	page := New(newConfig(t, telling()...))
	if body := get(t, page, "/-/?scale=10").Body.String(); !strings.Contains(body, "chevron") {
		t.Error("no bar is cut at ten seconds")
	}
	if body := get(t, page, "/-/?scale=fit").Body.String(); strings.Contains(body, "chevron") {
		t.Error("a bar is cut though all should fit")
	}
}

func TestWhatTookFarLongerThanUsualStandsOut(t *testing.T) {
	for _, test := range []struct {
		excess, total float64
		want          bool
	}{{4000, 8000, true}, {900, 1000, false}, {1500, 60_000, false}, {-4000, 8000, false}} {
		x := seeded("x", time.Minute, func(x *exchange.Exchange) { answered(x, 500, test.total, 90) })
		x.Excess = span(test.excess)
		r := laid(x, time.Minute)
		if r.Slow != test.want || strings.Contains(r.Total.Title, "longer than usual") != test.want {
			t.Errorf("%v of %v ms: slow %v, %q", test.excess, test.total, r.Slow, r.Total.Title)
		}
	}
	x := seeded("x", time.Minute, func(x *exchange.Exchange) { answered(x, 500, 9000, 90) })
	if laid(x, time.Minute).Slow {
		t.Error("slow though nothing is known to be usual")
	}
}

func TestTheSlowestOfManyAreBold(t *testing.T) {
	body := get(t, New(newConfig(t, many(40)...)), "/-/").Body.String()
	if n := strings.Count(body, `class="strong"`); n < 2 || n > 8 {
		t.Errorf("%d figures stand out of 40 rows", n)
	}
	body = get(t, New(newConfig(t, many(standingOut-1)...)), "/-/").Body.String()
	if strings.Contains(body, `class="strong"`) {
		t.Error("some stand out of a few")
	}
}
