package audit

// markRetries finds attempts at the same request that were billed after an
// earlier one had been.
func (c *comparison) markRetries() {
	first := make(map[string]*here)
	for i := range c.here { // in the order of their start
		h := &c.here[i]
		if h.Retry == "" || !h.billed {
			continue
		}
		before, again := first[h.Retry]
		if !again {
			first[h.Retry] = h
			continue
		}
		row := &c.rows[h.row-1]
		why := Words{
			"An earlier attempt at the same request, ${id}, was billed as well.", "同一请求的前一次尝试 ${id} 也被计费。",
		}.with("id", before.ID)
		if row.Class.accuses() {
			row.Reasons = append(row.Reasons, why)
			continue
		}
		row.be(RetryDuplicate, why)
	}
}
