package experiment

import (
	"fmt"
	"strings"
	"time"
)

var kindNames = map[Kind]Sentence{
	Ladder:   {"Ladder", "阶梯"},
	Burst:    {"Burst", "连发"},
	Cache:    {"Cache", "缓存"},
	History:  {"History", "历史"},
	Models:   {"Models", "模型"},
	Shapes:   {"Shapes", "长短"},
	Load:     {"Load", "并发"},
	Direct:   {"Direct", "直连"},
	Observed: {"Range", "时段"},
}

// Name is what people read for the kind.
func (k Kind) Name() Sentence {
	if s, ok := kindNames[k]; ok {
		return s
	}
	return plain(string(k))
}

// page writes Markdown in one language.
type page struct {
	strings.Builder
	lang string
}

func (p *page) title(level int, s Sentence) {
	fmt.Fprintf(p, "%s %s\n\n", strings.Repeat("#", level), s.In(p.lang))
}

func (p *page) paragraph(s Sentence) { fmt.Fprintf(p, "%s\n\n", s.In(p.lang)) }

func (p *page) emphasis(s Sentence) { p.paragraph(plain("**").join(s).join(plain("**"))) }

func (p *page) bullets(all []Sentence) {
	for _, s := range all {
		fmt.Fprintf(p, "- %s\n", s.In(p.lang))
	}
	if len(all) > 0 {
		p.WriteString("\n")
	}
}

// table writes rows of cells under their heads, nothing without rows.
func (p *page) table(heads []Sentence, rows [][]Sentence) {
	if len(rows) == 0 {
		return
	}
	p.line(heads)
	fmt.Fprintf(p, "|%s\n", strings.Repeat(" --- |", len(heads)))
	for _, cells := range rows {
		p.line(cells)
	}
	p.WriteString("\n")
}

func (p *page) line(cells []Sentence) {
	p.WriteString("|")
	for _, c := range cells {
		text := strings.NewReplacer("|", `\|`, "\n", " ").Replace(c.In(p.lang))
		fmt.Fprintf(p, " %s |", text)
	}
	p.WriteString("\n")
}

// text is the page with one newline at its end.
func (p *page) text() string { return strings.TrimRight(p.Builder.String(), "\n") + "\n" }

// Markdown is the report as text to read or to paste, in "zh" or English.
func (r *Report) Markdown(lang string) string {
	p := &page{lang: lang}
	r.write(p, 1)
	return p.text()
}

func (r *Report) write(p *page, level int) {
	p.title(level, Sentence{"${kind} experiment", "${kind}实验"}.with(figures{"kind": r.Kind.Name()}))
	p.emphasis(r.Verdict)
	p.paragraph(r.setup())
	p.bullets(r.Says)
	r.writeArms(p)
	r.writeChanges(p)
	r.writeLines(p)
	p.paragraph(Sentence{"How far to trust it:", "可信程度："})
	p.bullets(r.trust())
	r.writeIDs(p)
	if r.Command != "" {
		p.paragraph(Sentence{"Again: `${command}`", "再做一次：`${command}`"}.with(figures{"command": plain(r.Command)}))
	}
}

// setup says what was asked, where and when.
func (r *Report) setup() Sentence {
	states := map[State]Sentence{Running: {"running", "进行中"}, Stopped: {"stopped early", "提前停止"}, Done: {"done", "已完成"}}
	return Sentence{
		"`${id}`, ${state}: ${models} through ${upstreams} (${wire}), ${sent} requests of ${planned} planned, ${rounds} rounds, from ${start}.",
		"`${id}`，${state}：${models}，上游 ${upstreams}（${wire}），计划 ${planned} 个请求，已发 ${sent} 个，${rounds} 轮，始于 ${start}。",
	}.with(figures{
		"id": plain(r.ID), "state": states[r.State], "models": list(plains(r.Models)), "upstreams": list(plains(r.Upstreams)),
		"wire": plain(r.Wire), "sent": count(r.asked()), "planned": count(r.Planned), "rounds": count(r.Rounds),
		"start": plain(r.StartedAt.UTC().Format(time.RFC3339)),
	})
}

// asked is how many of the planned requests were sent, each counted once however
// often a rate limit has sent it back.
func (r *Report) asked() int {
	steps := make(map[int]bool)
	for _, s := range r.Samples {
		steps[s.Step] = true
	}
	return len(steps)
}

func plains(texts []string) []Sentence {
	var all []Sentence
	for _, t := range texts {
		all = append(all, plain(t))
	}
	return all
}

// trust are the checks, each with its mark.
func (r *Report) trust() []Sentence {
	var all []Sentence
	for _, c := range r.Checks {
		mark := "✓ "
		if !c.Fine {
			mark = "⚠ "
		}
		all = append(all, plain(mark).join(c.Sentence))
	}
	return all
}

// Markdown is the comparison as text to read or to paste, in "zh" or English.
func (c *Comparison) Markdown(lang string) string {
	p := &page{lang: lang}
	p.title(1, Sentence{"Comparison of ${a} and ${b}", "${a} 与 ${b} 的对比"}.with(figures{"a": plain(c.From), "b": plain(c.To)}))
	p.emphasis(c.Verdict)
	p.bullets(c.Says)
	var rows [][]Sentence
	for _, arm := range c.Arms {
		for _, change := range arm.Changes {
			rows = append(rows, append([]Sentence{plain(arm.Name)}, change.cells()...))
		}
	}
	p.table(append([]Sentence{{"arm", "组"}}, changeHeads...), rows)
	return p.text()
}

// Markdown is the joint verdict and the parts as text to read or to paste, in
// "zh" or English; each report has its own.
func (j *Joint) Markdown(lang string) string {
	p := &page{lang: lang}
	p.title(1, Sentence{"All experiments", "全部实验"})
	p.emphasis(j.Verdict)
	var rows [][]Sentence
	for _, part := range j.Parts {
		rows = append(rows, []Sentence{part.Name, ranged(part.MS, took), count(part.MS.N)})
	}
	p.table([]Sentence{{"part", "部分"}, {"time (95 % interval)", "时间（95 % 区间）"}, {"n", "n"}}, rows)
	p.bullets(j.Says)
	return p.text()
}
