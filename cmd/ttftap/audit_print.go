package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/store/audit"
)

// auditText writes a result for people.
type auditText struct {
	w    io.Writer
	r    *audit.Result
	lang string
	link func(id string) string
}

// simple are the classes of rows of which there is nothing to say.
var simple = []audit.Class{audit.Matched, audit.MatchedNear, audit.BucketEqual}

// auditWords are the words around what was found.
var auditWords = map[string]audit.Words{
	"read":    {En: "%s: %s, read as %s", Zh: "%s：%s，按 %s 读取"},
	"row":     {En: "row %d: ", Zh: "第 %d 行："},
	"log":     {En: "Log", Zh: "日志"},
	"console": {En: "Console", Zh: "控制台"},
	"clock":   {En: "The console's clock is %.1f s %s (by %d pairs, %.1f s apart in the middle).", Zh: "控制台时钟%[2]s %[1].1f 秒（依据 %[3]d 对，偏差中位数 %[4].1f 秒）。"},
	"behind":  {En: "behind", Zh: "慢"},
	"ahead":   {En: "ahead", Zh: "快"},
	"head":    {En: "\trows\there\tconsole\tin here\tin console\tout here\tout console\tbilled\t", Zh: "\t行\t本地\t控制台\t输入（本地）\t输入（控制台）\t输出（本地）\t输出（控制台）\t计费\t"},
	"total":   {En: "compared", Zh: "合计"},
	"more":    {En: "%d more of these: --csv or --json has them all", Zh: "另有 %d 条：用 --csv 或 --json 查看全部"},
	"nomodel": {En: "(no model)", Zh: "（无模型）"},
	"in":      {En: "in", Zh: "输入"},
	"out":     {En: "out", Zh: "输出"},
	"asked":   {En: "requests", Zh: "请求"},
}

func (t *auditText) say(name string) string { return auditWords[name].In(t.lang) }

func (t *auditText) line(format string, args ...any) {
	fmt.Fprintln(t.w, printable(fmt.Sprintf(format, args...)))
}

// print says the verdict, and no more if there is nothing else to say.
func (t *auditText) print() error {
	t.line("%s", t.r.Say.In(t.lang))
	if !t.isPlain() {
		fmt.Fprintln(t.w)
		t.files()
		t.coverage()
		t.totals()
		t.findings()
	}
	return nil
}

// isPlain says whether all rows are matched, and were read without doubt.
func (t *auditText) isPlain() bool {
	for _, f := range t.r.Files {
		if len(f.Warnings) > 0 {
			return false
		}
	}
	return t.r.Verdict == audit.Clean && !slices.ContainsFunc(t.r.Rows, func(row audit.Row) bool { return !slices.Contains(simple, row.Class) })
}

func (t *auditText) files() {
	for _, f := range t.r.Files {
		rows := plural(int64(f.Rows), "row")
		if t.lang == "zh" {
			rows = counted(int64(f.Rows)) + " 行"
		}
		t.line(t.say("read"), f.Name, rows, f.Source)
		for _, w := range f.Warnings {
			place := ""
			if w.Line > 0 {
				place = fmt.Sprintf(t.say("row"), w.Line)
			}
			t.line("  %s%s", place, w.Say.In(t.lang))
		}
	}
}

// toSecond is how times are written.
const toSecond = "2006-01-02 15:04:05"

// coverage says what both sides cover, and what was found out of them.
func (t *auditText) coverage() {
	for _, side := range []struct {
		name string
		span audit.Span
	}{{"log", t.r.Log}, {"console", t.r.Console}} {
		if !side.span.From.IsZero() {
			t.line("%s: %s – %s UTC", t.say(side.name), side.span.From.UTC().Format(toSecond), side.span.To.UTC().Format(toSecond))
		}
	}
	if c := t.r.Clock; c != nil {
		way, offset := "ahead", c.OffsetMS
		if offset < 0 {
			way, offset = "behind", -offset
		}
		t.line(t.say("clock"), float64(offset)/1e3, t.say(way), c.Pairs, float64(c.JitterMS)/1e3)
	}
	for _, c := range t.r.Conventions {
		t.line("%s", c.Say.In(t.lang))
	}
	for _, n := range t.r.Notes {
		t.line("%s", n.In(t.lang))
	}
	fmt.Fprintln(t.w)
}

// totals are the counts and sums by class.
func (t *auditText) totals() {
	w := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, t.say("head"))
	all := t.r.Totals
	sum := audit.Tally{Say: auditWords["total"], Exchanges: all.Exchanges, ConsoleRows: all.ConsoleRows, Here: all.Here, There: all.There, Money: all.Money}
	for _, c := range t.r.Counts {
		if c.Class != audit.OutOfScope {
			sum.Rows += c.Rows
		}
		t.tally(w, &c)
	}
	t.tally(w, &sum)
	w.Flush()
}

func (t *auditText) tally(w io.Writer, c *audit.Tally) {
	cells := []string{c.Say.In(t.lang)}
	for _, n := range []int{c.Rows, c.Exchanges, c.ConsoleRows} {
		cells = append(cells, counted(int64(n)))
	}
	for _, n := range []*int64{c.Here.Input, c.There.Input, c.Here.Output, c.There.Output} {
		cells = append(cells, figure.Count(n))
	}
	fmt.Fprintln(w, strings.Join(cells, "\t")+"\t"+printable(cmp.Or(audit.Sums(c.Money), figure.Unknown))+"\t")
}

// What is told in words has an end.
const (
	mostFindings = 50 // of a class
	mostLinks    = 5  // of a finding
)

// findings are the rows that are not simply matched, by class.
func (t *auditText) findings() {
	for _, c := range t.r.Counts {
		if slices.Contains(simple, c.Class) {
			continue
		}
		fmt.Fprintln(t.w)
		t.line("%s", c.Say.In(t.lang))
		t.findingsOf(c.Class)
	}
}

func (t *auditText) findingsOf(class audit.Class) {
	told := 0
	for i := range t.r.Rows {
		row := &t.r.Rows[i]
		if row.Class != class {
			continue
		}
		if told++; told <= mostFindings {
			t.finding(row)
		}
	}
	if told > mostFindings {
		t.line("  "+t.say("more"), told-mostFindings)
	}
}

// finding is one row: when, what, why, and where to look.
func (t *auditText) finding(row *audit.Row) {
	at := "–"
	if !row.Time.IsZero() {
		at = row.Time.UTC().Format(toSecond)
	}
	model := row.Model
	if model == "" {
		model = t.say("nomodel")
	}
	t.line("  %s  %s%s", at, model, t.figures(row))
	for _, why := range row.Reasons {
		t.line("    %s", why.In(t.lang))
	}
	for _, id := range row.Exchanges[:min(len(row.Exchanges), mostLinks)] {
		t.line("    %s", t.link(id))
	}
	if more := len(row.Exchanges) - mostLinks; more > 0 {
		t.line("    "+t.say("more"), more)
	}
	if where := t.r.Where(row); where != "" {
		t.line("    %s", where)
	}
}

// figures are the counts of a row, here and there.
func (t *auditText) figures(row *audit.Row) string {
	var b strings.Builder
	if q := row.Requests; q != nil {
		fmt.Fprintf(&b, "  %s %s / %s", t.say("asked"), figure.Count(&q.Here), figure.Count(q.There))
	}
	for _, c := range []struct {
		name        string
		here, there *int64
	}{{"in", row.Here.Input, row.There.Input}, {"out", row.Here.Output, row.There.Output}} {
		if c.here != nil || c.there != nil {
			fmt.Fprintf(&b, "  %s %s / %s", t.say(c.name), figure.Count(c.here), figure.Count(c.there))
		}
	}
	return b.String()
}
