package audit

import "slices"

// judgeGroups makes a row of each group.
func (c *comparison) judgeGroups() {
	c.rows = slices.Grow(c.rows, len(c.groups)+len(c.entries))
	for _, g := range c.groups {
		row := c.groupRow(g)
		switch {
		case g.unclear:
			c.judgeUnclear(&row, g)
		case len(g.here) == 1 && len(g.there) == 1:
			c.judgePair(&row, &c.here[g.here[0]], &c.there[g.there[0]])
		case len(g.here) == 1:
			c.judgeRetried(&row, g)
		default:
			c.judgeShared(&row, g)
		}
		c.rows = append(c.rows, row)
		for _, i := range g.here {
			c.here[i].row = len(c.rows)
			c.here[i].billed = !g.unclear && c.anyBilled(g)
		}
	}
}

func (c *comparison) anyBilled(g group) bool {
	for _, j := range g.there {
		if c.there[j].billed() {
			return true
		}
	}
	return false
}

// be gives a row its class, which says whether it is a difference.
func (r *Row) be(class Class, reasons ...Words) {
	r.Class, r.Differs = class, class.accuses()
	r.Reasons = append(r.Reasons, reasons...)
}

// judgePair compares an attempt with its row.
func (c *comparison) judgePair(row *Row, h *here, t *there) {
	switch {
	case t.Refund:
		row.be(OutOfScope, Words{"Refunded.", "已退款。"})
	case h.failed() || h.left():
		c.judgeFailed(row, h, t.billed())
	case t.Failed && !t.billed():
		row.be(TokensDiffer, Words{
			"It ended well here, but the console has it as failed, with nothing billed.",
			"本地正常结束，控制台却记为失败且未计费。",
		})
	case h.isBare():
		row.be(UsageMissing, Words{
			"The log has no usage of it, so its tokens were not checked.", "日志中没有该请求的 usage，无法核对 Token 数。",
		})
	default:
		c.judgeCounts(row, h.label, t.Estimated, t.countless())
	}
}

// judgeCounts compares the sums of a row; the money after them.
func (c *comparison) judgeCounts(row *Row, label int32, estimated, countless bool) {
	reasons, beyond := unequal(row.Here, row.There, estimated)
	switch {
	case beyond:
		row.be(TokensDiffer, reasons...)
		return
	case len(reasons) > 0:
		row.be(MatchedNear, append(reasons, Words{"The console's counts are estimates.", "控制台的 Token 数为估算值。"})...)
	case countless:
		row.be(MatchedNear, Words{"The console states no tokens of it.", "控制台没有给出 Token 数。"})
	default:
		row.be(Matched)
	}
	if len(row.purse) != 1 {
		return
	}
	if reason, differs := c.priced(label, row.Here, &row.purse[0]); differs {
		row.be(CostDiffers, reason)
	}
}

// judgeFailed says whether what ended badly was billed.
func (c *comparison) judgeFailed(row *Row, h *here, billed bool) {
	switch {
	case !billed:
		row.be(FailedNotBilled, endedWords(h))
	case h.left() && h.began():
		row.be(AbortedBilled, endedWords(h), c.billedWords(row, h))
	default:
		row.be(FailedBilled, endedWords(h), c.billedWords(row, h))
	}
}

// endedWords say how an attempt ended.
func endedWords(h *here) Words {
	w := Words{"It failed here (${outcome}).", "本地失败（${outcome}）。"}
	switch {
	case h.left() && h.began():
		w = Words{"The client left before its end.", "客户端在结束前中断。"}
	case h.left():
		w = Words{"The client gave up before a first token.", "客户端在首个 token 之前放弃。"}
	}
	if h.Status != nil && *h.Status >= 400 {
		w = Words{"It failed here with status ${status}.", "本地失败，状态码 ${status}。"}
		return w.with("status", written(int(*h.Status), ""))
	}
	return w.with("outcome", string(h.Outcome))
}

// billedWords say what was billed, beside what was seen before the end.
func (c *comparison) billedWords(row *Row, h *here) Words {
	if seen := known(h.Output, h.Counted); seen != nil {
		return Words{
			"Billed: ${in} in, ${out} out. Seen before the end: at least ${seen} out.",
			"计费：输入 ${in}，输出 ${out}；结束前本地至少收到输出 ${seen}。",
		}.with("in", row.There.Input, "out", row.There.Output, "seen", seen)
	}
	return Words{"Billed: ${in} in, ${out} out.", "计费：输入 ${in}，输出 ${out}。"}.with("in", row.There.Input, "out", row.There.Output)
}

// judgeRetried compares one attempt with several rows of its id.
func (c *comparison) judgeRetried(row *Row, g group) {
	h := &c.here[g.here[0]]
	rows, refunds, billed := 0, 0, 0
	for _, j := range g.there {
		t := &c.there[j]
		switch {
		case t.Refund:
			refunds++
		case t.billed():
			billed++
			rows++
		default:
			rows++
		}
	}
	if refunds > 0 {
		c.judgeRefunded(row, h, g)
		return
	}
	several := Words{
		"The console has ${rows} rows of this request's id, ${billed} of them billed; their sum was compared.",
		"控制台有 ${rows} 行使用该请求的 ID，其中 ${billed} 行计费；比对的是合计。",
	}.with("rows", rows, "billed", billed)
	if h.failed() || h.left() {
		c.judgeFailed(row, h, billed > 0)
		row.Reasons = append(row.Reasons, several)
		return
	}
	reasons, beyond := unequal(row.Here, row.There, c.anyEstimated(g))
	row.be(GatewayRetry, append([]Words{several}, reasons...)...)
	row.Differs = beyond
}

func (c *comparison) anyEstimated(g group) bool {
	for _, j := range g.there {
		if c.there[j].Estimated {
			return true
		}
	}
	return false
}

// judgeRefunded nets what was billed and taken back.
func (c *comparison) judgeRefunded(row *Row, h *here, g group) {
	for _, m := range row.purse {
		if m.Nano > 0 {
			c.judgeCounts(row, h.label, c.anyEstimated(g), false)
			row.Reasons = append(row.Reasons, Words{"A part of it was refunded.", "部分已退款。"})
			return
		}
	}
	row.be(OutOfScope, Words{"Billed and refunded.", "已计费并退款，互相抵消。"})
}

// judgeShared compares the sums of attempts that share an id with what the
// console has of it.
func (c *comparison) judgeShared(row *Row, g group) {
	c.judgeCounts(row, c.here[g.here[0]].label, c.anyEstimated(g), false)
	row.Reasons = append(row.Reasons, Words{
		"${here} exchanges here and ${there} rows there share an id; their sums were compared.",
		"本地 ${here} 条请求与控制台 ${there} 行共用一个 ID；比对的是合计。",
	}.with("here", len(g.here), "there", len(g.there)))
}

// judgeUnclear says what a group has whose rows cannot be told apart. It accuses
// none of them: it is a difference only where its two sides are not the same.
func (c *comparison) judgeUnclear(row *Row, g group) {
	reasons, beyond := unequal(row.Here, row.There, c.anyEstimated(g))
	alike := !beyond && len(g.here) == len(g.there) && !c.anyBare(g)
	row.be(Ambiguous, Words{
		"${here} exchanges here and ${there} rows there look alike in the same time.",
		"同一时段内本地 ${here} 条与控制台 ${there} 行相互无法区分。",
	}.with("here", len(g.here), "there", len(g.there)))
	switch {
	case alike:
		row.Reasons = append(row.Reasons, Words{"Together they are equal.", "合计一致。"})
	case g.edge:
		row.Reasons = append(row.Reasons, Words{
			"What lacks may lie outside of what both sides cover.", "差额可能落在双方共同覆盖的时段之外。",
		})
	default:
		row.Reasons = append(row.Reasons, reasons...)
	}
	row.Differs = !alike && !g.edge
}

func (c *comparison) anyBare(g group) bool {
	for _, i := range g.here {
		if c.here[i].isBare() {
			return true
		}
	}
	return false
}
