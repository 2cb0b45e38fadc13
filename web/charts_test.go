package web

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTheChartsAreOfWhatTheLogShows(t *testing.T) {
	page := New(newConfig(t, telling()...))
	log := get(t, page, "/-/?bound=decode&from=-3h&sort=total_ms").Body.String()
	to := link(log, "Charts")
	if to != "/-/charts?bound=decode&from=-3h" {
		t.Fatalf("from the log to %q", to)
	}
	body := get(t, page, to).Body.String()
	marks := regexp.MustCompile(`<a href="/-/requests/([a-z-]+)" tabindex="-1"><use href="#m-decode"`).FindAllStringSubmatch(body, -1)
	if rows := shown(log); len(marks) != len(rows) || len(rows) != 3 {
		t.Errorf("marks %v, rows %v", marks, rows)
	}
	if back := link(body, "Requests"); back != "/-/?bound=decode&from=-3h" {
		t.Errorf("back to %q", back)
	}
}

func TestTheFormOfTheChartsStaysThere(t *testing.T) {
	body := get(t, New(newConfig(t, telling()...)), "/-/charts?bound=decode&from=-3h").Body.String()
	for _, want := range []string{
		`<form class="filters" method="get" action="/-/charts">`, `<a href="/-/charts?bound=prefill&amp;from=-3h"`,
		`<a href="/-/charts?from=-3h" aria-label="Remove`, `<a href="/-/charts">Clear all</a>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestABandOfChartsLiesOverTheLog(t *testing.T) {
	page := New(newConfig(t, telling()...))
	body := get(t, page, "/-/?bound=decode").Body.String()
	head, rest, ok := strings.Cut(body, `<details class="band" open>`)
	if !ok || !strings.Contains(head, `<form class="filters"`) || !strings.Contains(rest, `<table class="log`) {
		t.Error("no band between filters and table")
	}
	if n := strings.Count(body, "<figure "); n != 3 {
		t.Errorf("%d charts", n)
	}
	if !strings.Contains(rest, `<a href="/-/charts?bound=decode">`) {
		t.Error("nothing leads to the charts' own view")
	}
	if body := get(t, page, "/-/?bound=stalled&session=none").Body.String(); strings.Contains(body, `class="band"`) {
		t.Error("a band over no rows")
	}
}

func TestChartsOfNothingSaySo(t *testing.T) {
	for name, test := range map[string]struct {
		rows   []*exchange.Exchange
		target string
		want   string
	}{
		"empty log":     {nil, "/-/charts", "Nothing has been recorded yet"},
		"nothing found": {telling(), "/-/charts?session=none", "No request matches"},
		"no figures":    {[]*exchange.Exchange{telling()[7]}, "/-/charts", "No answer here is long enough to tell its rate."},
	} {
		w := get(t, New(newConfig(t, test.rows...)), test.target)
		if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, test.want) {
			t.Errorf("%s: status %d, not said: %s", name, w.Code, test.want)
		}
	}
}

func TestABrokenFilterOfTheChartsIsNamed(t *testing.T) {
	body := get(t, New(newConfig(t, telling()...)), "/-/charts?from=nonsense&colour=red").Body.String()
	for _, want := range []string{"from=nonsense was left out", "colour=red was left out"} {
		if !strings.Contains(body, want) {
			t.Errorf("not said: %s", want)
		}
	}
}

func TestHostileNamesInChartsAreTexts(t *testing.T) {
	var rows []*exchange.Exchange
	for i := range 4 {
		rows = append(rows, seeded(fmt.Sprint("h-", i), time.Duration(i+1)*time.Minute, func(x *exchange.Exchange) {
			prompted(x, 9000, 10)
			answered(x, 900, 4000, 200)
			x.ModelRequested, x.Upstream = hostile, hostile
		}))
	}
	page := New(newConfig(t, rows...))
	for _, target := range []string{"/-/", "/-/charts"} {
		body := get(t, page, target).Body.String()
		if !strings.Contains(body, "&lt;script&gt;alert(1)") {
			t.Errorf("%s does not show the name", target)
		}
		for _, bad := range []string{"<script>alert", "<img", "\u2028", "\u202e", `href="javascript:`, "onerror=alert(1)>"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s has %q", target, bad)
			}
		}
	}
}

func TestNamesOfAnySizeLeaveTheChartsSmall(t *testing.T) {
	big := strings.Repeat("x", 100<<10)
	x := seeded("big", time.Second, func(x *exchange.Exchange) {
		prompted(x, 9000, 10)
		answered(x, 900, 4000, 200)
		x.Upstream, x.ModelRequested = big, big
	})
	if n := get(t, New(newConfig(t, x)), "/-/charts").Body.Len(); n > 40<<10 {
		t.Errorf("%d bytes", n)
	}
}

// TestTheMostMarksAreSmall guards what the log carries along.
func TestTheMostMarksAreSmall(t *testing.T) {
	c := newCharting(noon.Location(), false)
	for _, b := range crowd(marksMost) {
		c.add(&b)
	}
	for _, ch := range c.charts(canvas{l: english, q: query{}, now: noon}) {
		size := 0
		for _, g := range ch.Picture.Groups {
			size += len(g.Marks)
		}
		if size > marksMost*170 {
			t.Errorf("the marks of %s have %d bytes", ch.Name, size)
		}
	}
}
