package audit

import (
	"cmp"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// judgeAlone makes rows of what found nothing on the other side.
func (c *comparison) judgeAlone() {
	requests := len(c.there) > 0
	for i := range c.here {
		h := &c.here[i]
		if h.state == open && requests {
			class, why := c.judgeHere(h)
			c.rows = append(c.rows, c.hereRow(h, class, why))
			h.row = len(c.rows)
		}
	}
	for j := range c.there {
		t := &c.there[j]
		if t.state == open {
			class, why := c.judgeThere(t)
			row := c.thereRow(t, class, why)
			if c.options.Shared || t.GatewayCache {
				row.Differs = false
			}
			c.rows = append(c.rows, row)
		}
	}
	for j := range c.entries {
		c.rows = append(c.rows, c.thereRow(&c.entries[j], OutOfScope, Words{
			"No request: an entry of the account.", "不是请求，而是账户记录（充值、管理或登录）。",
		}))
	}
}

func (c *comparison) judgeHere(h *here) (Class, Words) {
	switch {
	case h.Outcome == exchange.Open:
		return OutOfScope, Words{"It is still under way.", "请求仍在进行。"}
	case h.Outcome == exchange.Refused || h.Outcome == exchange.Unreachable:
		return FailedNotBilled, Words{"It never reached the upstream.", "请求没有到达上游。"}
	case !c.consoleCovers(h):
		return OutOfScope, Words{"The file does not cover its time, or only just.", "文件没有覆盖该请求的时间，或恰在边缘。"}
	case h.failed() || h.left():
		return FailedNotBilled, Words{"${ended} The console has no row of it.", "${ended}控制台没有记录。"}.with("ended", endedWords(h))
	case h.Free:
		return OutOfScope, Words{"It asked for nothing that is billed by tokens.", "该请求不按 Token 计费。"}
	case c.mayBeUnread(h):
		return OutOfScope, Words{"A row of the file that may be its could not be read.", "文件中可能属于该请求的一行无法读取。"}
	case h.isBare():
		return OnlyLocal, Words{"The log has no usage of it, and the console no row.", "日志没有 usage，控制台也没有记录。"}
	}
	return OnlyLocal, Words{"The console has no row of it.", "控制台没有对应记录。"}
}

func (c *comparison) judgeThere(t *there) (Class, Words) {
	switch {
	case t.Refund:
		return OutOfScope, Words{"A refund of what is not here.", "退款记录，没有对应的请求。"}
	case !t.timed():
		return OutOfScope, Words{"The row tells no time, and no id of it is here.", "该行没有时间，本地也没有它的 ID。"}
	case !c.logCovers(t):
		return OutOfScope, Words{"The log does not cover its time, or only just.", "日志没有覆盖该行的时间，或恰在边缘。"}
	case t.Failed && !t.billed():
		return FailedNotBilled, Words{"It failed there and was not billed; nothing of it is here.", "控制台记为失败且未计费，本地没有对应请求。"}
	case t.GatewayCache:
		return OnlyConsole, Words{"The gateway answered it from its own cache.", "由网关自身的缓存返回。"}
	}
	return OnlyConsole, Words{
		"Nothing of it is in the log: another client used the key, or the proxy was not running.",
		"日志中没有：密钥被其他客户端使用，或当时代理未运行。",
	}
}

// groupRow is the row of a group, without its class.
func (c *comparison) groupRow(g group) Row {
	r := Row{By: g.by}
	var only *here
	if len(g.here) == 1 {
		only = &c.here[g.here[0]]
	}
	k := habit(asHere)
	for _, i := range g.here {
		r.putHere(&c.here[i])
		k = c.here[i].habit
	}
	for _, j := range g.there {
		r.putThere(&c.there[j], c.there[j].asLog(k, only))
	}
	return r
}

func (c *comparison) hereRow(h *here, class Class, why Words) Row {
	var r Row
	r.putHere(h)
	r.be(class, why)
	return r
}

func (c *comparison) thereRow(t *there, class Class, why Words) Row {
	var r Row
	k, ok := c.habits.of[t.label]
	if !ok {
		k = c.habits.all
	}
	r.putThere(t, t.asLog(k, nil))
	r.be(class, why)
	return r
}

func (r *Row) putHere(h *here) {
	if len(r.Exchanges) == 0 {
		r.Time = h.Start.UTC()
	}
	r.Exchanges = append(r.Exchanges, h.ID)
	r.Here = r.Here.plus(h.Counts)
	if len(h.Models) > 0 {
		r.Model = h.Models[len(h.Models)-1]
	}
}

func (r *Row) putThere(t *there, n Counts) {
	r.Lines = append(r.Lines, Place{t.file, t.Line})
	if r.Time.IsZero() && t.timed() {
		r.Time = time.Unix(0, t.lo).UTC()
	}
	if r.ConsoleModel == "" {
		r.ConsoleModel = t.Model
	}
	r.Model = cmp.Or(r.Model, t.Model)
	if r.Key == "" {
		r.Key = t.Key
	}
	if t.Refund {
		r.purse.put(t.Money, -1)
		return
	}
	r.purse.put(t.Money, 1)
	r.There = r.There.plus(n)
}
