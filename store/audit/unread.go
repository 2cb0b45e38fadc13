package audit

import (
	"slices"
	"sort"
)

// unread is the rows of the files that could not be read, in the order of their
// time, and by their ids.
type unread struct {
	rows  []there
	ids   map[string]bool
	width int64 // of the widest
}

func readyUnread(files []File, n *names) unread {
	u := unread{ids: make(map[string]bool)}
	for f := range files {
		for i := range files[f].Unread {
			r := &files[f].Unread[i]
			for _, id := range r.IDs {
				u.ids[fold(id)] = tells(id)
			}
			if !r.From.IsZero() {
				t := there{Record: r, file: f, at: r.At, lo: r.From.UnixNano(), hi: r.To.UnixNano(), label: n.label(r.models())}
				u.rows, u.width = append(u.rows, t), max(u.width, t.hi-t.lo)
			}
		}
	}
	slices.SortStableFunc(u.rows, func(a, b there) int { return sign(a.lo - b.lo) })
	return u
}

// move sets the times of requests' rows back, as those of the other rows.
func (u *unread) move(by int64) {
	for j := range u.rows {
		if t := &u.rows[j]; t.Kind != Bucket {
			t.lo, t.hi = t.lo-by, t.hi-by
		}
	}
}

// near are the rows that may touch a stretch of time.
func (u *unread) near(from, to int64) []there {
	i := sort.Search(len(u.rows), func(k int) bool { return u.rows[k].lo >= from-u.width })
	j := sort.Search(len(u.rows), func(k int) bool { return u.rows[k].lo > to })
	return u.rows[i:max(i, j)]
}

func (u *unread) overlaps(sp span) bool {
	return slices.ContainsFunc(u.near(sp.lo, sp.hi), func(t there) bool { return t.Kind == Bucket && t.lo < sp.hi && sp.lo < t.hi })
}

// mayBeUnread says whether a row that could not be read may be an attempt's.
func (c *comparison) mayBeUnread(h *here) bool {
	for _, id := range h.IDs {
		if c.unread.ids[fold(id)] {
			return true
		}
	}
	from, to := h.start-c.delta, h.end+c.delta
	for _, t := range c.unread.near(from, to) {
		if t.Kind != Bucket && t.lo <= to && t.hi >= from && c.names.cost(h.label, t.label) >= 0 && !c.strangers(h, &t) {
			return true
		}
	}
	return false
}
