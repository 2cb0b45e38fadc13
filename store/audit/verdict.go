package audit

import (
	"slices"
	"strings"
)

// result puts together what was found.
func (c *comparison) result() *Result {
	c.noteLacking()
	slices.SortStableFunc(c.rows, func(a, b Row) int { return a.Time.Compare(b.Time) })
	for i := range c.rows {
		c.rows[i].seal()
	}
	r := &Result{
		Log: c.log, Console: c.console, Clock: c.clock, Zone: c.zone, Conventions: filled(c.found), Notes: filled(c.notes), Rows: filled(c.rows),
	}
	for _, f := range c.files {
		r.Files = append(r.Files, FileNote{f.Name, f.Source, len(f.Records), filled(f.Warnings)})
	}
	c.tally(r)
	c.decide(r)
	return r
}

// seal makes the row what it is as data: nothing is an empty list.
func (r *Row) seal() {
	r.Money = r.purse.amounts()
	r.Exchanges, r.Lines, r.Reasons = filled(r.Exchanges), filled(r.Lines), filled(r.Reasons)
}

func filled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// tally counts the rows by class, and adds up what was compared.
func (c *comparison) tally(r *Result) {
	of := make(map[Class]*Tally)
	money, all := make(map[Class]*purse), purse{}
	for _, row := range r.Rows {
		t := of[row.Class]
		if t == nil {
			t = &Tally{Class: row.Class, Say: row.Class.Words()}
			of[row.Class], money[row.Class] = t, new(purse)
		}
		t.add(&row)
		for _, m := range row.purse {
			money[row.Class].put(&m, 1)
			if row.Class != OutOfScope {
				all.put(&m, 1)
			}
		}
		if row.Class != OutOfScope {
			r.Totals.add(&row)
		}
	}
	r.Totals.Money = all.amounts()
	for _, class := range Classes {
		if t := of[class]; t != nil {
			t.Money = money[class].amounts()
			r.Counts = append(r.Counts, *t)
		}
	}
}

func (t *Tally) add(row *Row) {
	t.Rows++
	if row.Differs {
		t.Differences++
	}
	t.Exchanges += row.exchanges()
	t.ConsoleRows += len(row.Lines)
	t.Here, t.There = t.Here.plus(row.Here), t.There.plus(row.There)
}

func (t *Totals) add(row *Row) {
	t.Exchanges += row.exchanges()
	t.ConsoleRows += len(row.Lines)
	t.Here, t.There = t.Here.plus(row.Here), t.There.plus(row.There)
}

// exchanges is how many exchanges a row stands for.
func (r *Row) exchanges() int {
	if r.Requests != nil {
		return int(r.Requests.Here)
	}
	return len(r.Exchanges)
}

// decide gives the verdict. Where nothing can be compared nobody is accused.
func (c *comparison) decide(r *Result) {
	r.Files, r.Counts = filled(r.Files), filled(r.Counts)
	if why, cannot := c.cannot(r); cannot {
		r.Verdict, r.Say = CannotCompare, why
		for i := range r.Rows {
			r.Rows[i].Differs = false
		}
		for i := range r.Counts {
			r.Counts[i].Differences = 0
		}
		return
	}
	var differ []Tally
	for _, t := range r.Counts {
		if t.Differences > 0 {
			differ = append(differ, t)
		}
	}
	if len(differ) > 0 {
		r.Verdict, r.Say = Differences, differencesWords(differ, len(r.Rows))
		return
	}
	r.Verdict = Clean
	r.Say = Words{
		"Clean: all that was compared agrees, ${here} exchanges here with ${there} rows of the console.",
		"一致：本地 ${here} 条请求与控制台 ${there} 行全部吻合。",
	}.with("here", r.Totals.Exchanges, "there", r.Totals.ConsoleRows)
}

func differencesWords(differ []Tally, rows int) Words {
	n := 0
	var en, zh []string
	for _, t := range differ {
		n += t.Differences
		en = append(en, strings.ToLower(t.Say.En[:1])+t.Say.En[1:]+" ("+thousands(int64(t.Differences))+")")
		zh = append(zh, t.Say.Zh+" "+thousands(int64(t.Differences)))
	}
	return Words{
		"${n} of ${rows} rows differ: ${list}.", "${rows} 行中有 ${n} 行不一致：${list}。",
	}.with("n", n, "rows", rows, "list", Words{strings.Join(en, ", "), strings.Join(zh, "，")})
}

// mostMet says whether most of the file's requests were found in the log.
func (c *comparison) mostMet() bool {
	n := 0
	for j := range c.there {
		if c.there[j].state == paired || c.there[j].state == crowded {
			n++
		}
	}
	return 2*n >= len(c.there)
}

// cannot says why nothing can be compared, where that is so.
func (c *comparison) cannot(r *Result) (Words, bool) {
	compared, met := 0, len(c.groups) > 0
	one := make(map[Class]bool)
	for _, t := range r.Counts {
		one[t.Class] = true
		if t.Class != OutOfScope {
			compared += t.Rows
		}
		met = met || t.Class == BucketEqual || t.Class == BucketDiffers || t.Class == BucketExplained
	}
	switch {
	case len(c.there)+len(c.buckets) == 0:
		return Words{"Cannot compare: the file has no rows of requests or sums.", "无法比对：文件中没有请求或合计记录。"}, true
	case len(c.here) == 0:
		return Words{"Cannot compare: the log has nothing in this part.", "无法比对：日志中没有相应的请求。"}, true
	case c.doubtful:
		return Words{
			"Cannot compare: this file looks like ${found}, you chose ${chosen}.", "无法比对：该文件看起来是 ${found}，而选择的是 ${chosen}。",
		}.with("found", ZoneName(c.zone.Found), "chosen", ZoneName(c.zone.Chosen)), true
	case c.summer != 0:
		return Words{
			"Cannot compare: this file's times are of ${one} and of ${other}, before and after a change to or from summer time." +
				" Name its zone by its place, as Europe/Berlin, or export the two parts apart.",
			"无法比对：该文件的时间分属 ${one} 和 ${other}，期间有夏令时切换。请用地名指定时区（如 Europe/Berlin），或分两段导出。",
		}.with("one", ZoneName(c.zone.Used), "other", ZoneName(c.zone.Used+c.summer)), true
	case c.guessed && !c.mostMet():
		return Words{
			"Cannot compare: the file's times state no offset, and too few rows show it; they were read as of ${zone}. Say which zone is right.",
			"无法比对：文件中的时间未写明时区，能佐证的行太少；暂按 ${zone} 读取。请指定时区。",
		}.with("zone", ZoneName(c.zone.Used)), true
	case !met && !c.console.overlaps(c.log):
		return Words{"Cannot compare: the file and the log have no time in common.", "无法比对：文件与日志没有共同的时段。"}, true
	case !met && one[OnlyLocal] && one[OnlyConsole]:
		return Words{
			"Cannot compare: nothing in the file belongs to anything in the log. Is it the right file, account and zone?",
			"无法比对：文件与日志没有一条能对上。请确认文件、账户和时区是否正确。",
		}, true
	case compared == 0:
		return Words{
			"Cannot compare: what the file and the log cover in common is too little.", "无法比对：文件与日志共同覆盖的范围太小。",
		}, true
	}
	return Words{}, false
}
