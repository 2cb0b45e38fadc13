package audit

import (
	"slices"
	"strings"
	"time"
)

// judgeBuckets compares the sums.
func (c *comparison) judgeBuckets() {
	for _, s := range c.seriesOf() {
		b := c.best(s)
		cells := make([]*cell, 0, len(b.cells))
		for _, at := range b.cells {
			cells = append(cells, at)
		}
		slices.SortFunc(cells, func(x, y *cell) int {
			if x.span != y.span {
				return x.span - y.span
			}
			return strings.Compare(c.names.shown(x.label), c.names.shown(y.label))
		})
		for _, at := range cells {
			if len(at.in)+len(at.lines)+len(at.bare) > 0 {
				c.rows = append(c.rows, b.judge(at))
			}
		}
	}
}

func (b *board) judge(at *cell) Row {
	row := b.row(at)
	switch {
	case at.moneyOnly(), len(at.lines) == 0 && !b.counts():
		row.be(OutOfScope, Words{"The file states of it nothing but money.", "文件只给出金额。"})
	case len(at.lines) == 0 && len(at.in) == 0:
		row.be(FailedNotBilled, Words{"${n} exchanges without usage, and nothing there.", "${n} 条没有 usage 的请求，控制台没有计费。"}.with("n", len(at.bare)))
	case at.isEqual():
		b.judgeEqual(&row, at)
	default:
		b.judgeUnequal(&row, at)
	}
	return row
}

func (b *board) row(at *cell) Row {
	sp := b.series.spans[at.span]
	r := Row{
		By: bySum, Time: time.Unix(0, sp.lo).UTC(), To: time.Unix(0, sp.hi).UTC(), Model: b.c.names.shown(at.label),
		Key: at.key, Lines: at.lines, purse: at.purse, There: at.there,
		Requests: &Requests{Here: int64(len(at.in)), There: at.asked},
	}
	for _, h := range at.in {
		n := h.Counts
		n.Input, n.Output = h.as(at.habit)
		r.Here = r.Here.plus(n)
	}
	return r
}

func (b *board) judgeEqual(row *Row, at *cell) {
	row.be(BucketEqual)
	if at.moved > 0 {
		row.Reasons = append(row.Reasons, Words{
			"Equal after ${n} exchanges at its edge were counted in the other bucket.", "把边界处的 ${n} 条请求归入相邻时段后一致。",
		}.with("n", at.moved))
	}
	if len(row.purse) != 1 {
		return
	}
	if reason, differs := b.c.priced(at.label, row.Here, &row.purse[0]); differs {
		row.be(CostDiffers, reason)
	}
}

// judgeUnequal says what differs, and whether anything explains it.
func (b *board) judgeUnequal(row *Row, at *cell) {
	reasons, _ := unequal(b.comparable(row.Here, at), row.There, false)
	if at.asked != nil && !at.fits(len(at.in)) {
		reasons = append(reasons, Words{
			"Requests: ${here} here, ${there} there.", "请求数：本地 ${here}，控制台 ${there}。",
		}.with("here", len(at.in), "there", at.asked))
	}
	if why, out := b.beyond(at); out {
		row.be(OutOfScope, append([]Words{why}, reasons...)...)
		return
	}
	switch {
	case len(at.in) == 0 && len(at.bare) == 0:
		row.be(OnlyConsole, Words{"The log has nothing of this model in this time.", "该时段日志中没有此模型的请求。"})
		row.Differs = !b.c.options.Shared
	case len(at.lines) == 0:
		row.be(OnlyLocal, Words{"The console has nothing of this model in this time.", "该时段控制台没有此模型的记录。"})
		row.Exchanges = ids(at.in)
	default:
		b.explain(row, at, reasons)
	}
}

// comparable is what the log has, where the console states it as well: nothing
// in the log is 0 there.
func (b *board) comparable(n Counts, at *cell) Counts {
	s := at.sum(at.in)
	return Counts{&s.in, &s.cached, n.CacheWrite, &s.out, nil}
}

// beyond says whether a sum cannot be compared since one side does not cover it.
func (b *board) beyond(at *cell) (Words, bool) {
	sp := b.series.spans[at.span]
	rest := at.stated().plus(at.sum(at.in), -1)
	less := rest.in < 0 || rest.out < 0
	whole := b.c.log.holds(sp.lo, sp.hi, 0)
	unknown := len(at.in)+len(at.bare) == 0 && !b.c.knows(at.label)
	span := Span{time.Unix(0, sp.lo), time.Unix(0, sp.hi)}
	switch {
	case less && b.c.unread.overlaps(sp):
		return Words{"A row of the file of this time could not be read.", "文件中该时段有一行无法读取。"}, true
	case less && sp.hi > b.series.spans[len(b.series.spans)-1].hi-int64(b.c.guard()):
		return Words{"The file's last buckets may not have been complete.", "文件的最后一个时段可能尚未统计完整。"}, true
	case less, whole, unknown && b.c.log.overlaps(span):
		return Words{}, false
	}
	return Words{"The log does not cover the whole of it.", "日志没有覆盖整个时段。"}, true
}

// knows says whether the log has any request of a console's model.
func (c *comparison) knows(label int32) bool {
	for i := range c.here {
		if c.names.cost(c.here[i].label, label) >= 0 {
			return true
		}
	}
	return false
}

// exchangesMost is how many ids a row of sums lists.
const exchangesMost = 200

func ids(rows []*here) []string {
	var out []string
	for _, h := range rows[:min(len(rows), exchangesMost)] {
		out = append(out, h.ID)
	}
	return out
}
