package audit

import (
	"slices"
	"strings"
)

const (
	shortID    = 8  // what is shorter is no id
	sharedMost = 16 // rows of one side that share an id: more, and it names something else
)

// pairByID makes groups of what shares an id. An id that names one attempt and
// one row comes before ids that are shared: an answer over a WebSocket shares
// the connection's with others and has one of its own.
func (c *comparison) pairByID() {
	index := c.idIndex()
	c.pairIDs(index, func(u *idUsers) bool { return len(u.here) == 1 && len(u.there) == 1 })
	c.pairIDs(index, func(u *idUsers) bool { return len(u.here) <= sharedMost && len(u.there) <= sharedMost })
	c.learnIDs(index)
}

// idUsers are the rows that have an id.
type idUsers struct{ here, there []int32 }

func (c *comparison) idIndex() map[string]*idUsers {
	index := make(map[string]*idUsers)
	for i := range c.there {
		for _, id := range c.there[i].IDs {
			if id = fold(id); !tells(id) {
				continue
			}
			if index[id] == nil {
				index[id] = new(idUsers)
			}
			if u := index[id]; !slices.Contains(u.there, int32(i)) {
				u.there = append(u.there, int32(i))
			}
		}
	}
	for i := range c.here {
		for _, id := range c.here[i].IDs {
			if u := index[fold(id)]; u != nil && !slices.Contains(u.here, int32(i)) {
				u.here = append(u.here, int32(i))
			}
		}
	}
	return index
}

// tells says whether an id is one; what is shorter shows nothing, neither that
// two rows are the same nor that they are not.
func tells(id string) bool { return len(fold(id)) >= shortID }

func fold(id string) string { return strings.ToLower(strings.TrimSpace(id)) }

// pairIDs makes a group of each connected set of open rows by the ids that fit.
func (c *comparison) pairIDs(index map[string]*idUsers, fits func(*idUsers) bool) {
	n := int32(len(c.here))
	sets := newSets(len(c.here) + len(c.there))
	for _, u := range index {
		h, t := c.openOf(u)
		if len(h) == 0 || len(t) == 0 || !fits(u) {
			continue
		}
		for _, i := range h {
			sets.join(h[0], i)
		}
		for _, j := range t {
			sets.join(h[0], n+j)
		}
	}
	for _, g := range c.gather(sets) {
		if len(g.here) > 0 && len(g.there) > 0 {
			g.by = byID
			c.settle(g)
		}
	}
}

func (c *comparison) openOf(u *idUsers) (here, there []int32) {
	for _, i := range u.here {
		if c.here[i].state == open {
			here = append(here, i)
		}
	}
	for _, j := range u.there {
		if c.there[j].state == open {
			there = append(there, j)
		}
	}
	return here, there
}

// gather makes groups of the sets that have more than one open row.
func (c *comparison) gather(s sets) []group {
	n := len(c.here)
	at := make(map[int32]int)
	var groups []group
	size := make([]int32, len(s))
	for i := range s {
		size[s.find(int32(i))]++
	}
	for i := range s {
		root := s.find(int32(i))
		if size[root] < 2 {
			continue
		}
		k, ok := at[root]
		if !ok {
			k = len(groups)
			at[root] = k
			groups = append(groups, group{})
		}
		if i < n {
			groups[k].here = append(groups[k].here, int32(i))
		} else {
			groups[k].there = append(groups[k].there, int32(i-n))
		}
	}
	return groups
}

// idKind is one of the places of an id in the log's row, of one upstream.
type idKind struct {
	upstream string
	place    int
}

// learnIDs finds out of which kinds the console's ids are: two rows whose ids of
// such a kind are not the same are two requests, however alike they look.
func (c *comparison) learnIDs(index map[string]*idUsers) {
	with, found := make(map[idKind]int), make(map[idKind]int)
	for i := range c.here {
		for place, id := range c.here[i].IDs {
			if id == "" {
				continue
			}
			k := idKind{c.here[i].Upstream, place}
			with[k]++
			if index[fold(id)] != nil {
				found[k]++
			}
		}
	}
	for k, n := range found {
		c.idsTell[k] = n >= fewPairs && 2*n >= with[k]
	}
}

// strangers says whether the ids of two rows show that they are two requests.
func (c *comparison) strangers(h *here, t *there) bool {
	if !slices.ContainsFunc(t.IDs, tells) {
		return false
	}
	for place, id := range h.IDs {
		if tells(id) && c.idsTell[idKind{h.Upstream, place}] {
			return true
		}
	}
	return false
}

const (
	byID     = "id"
	byTokens = "tokens"
	bySum    = "sum"
	fewPairs = 3 // fewer show nothing of a file
)
