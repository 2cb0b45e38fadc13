package audit

// group is some attempts and some rows that belong together: one and one, or,
// where an id is shared or nothing tells them apart, more.
type group struct {
	here, there []int32
	by          string // "id" or "tokens"
	unclear     bool   // which is which cannot be told
	edge        bool   // what lacks may lie outside of what both sides cover
}

// sets is a union-find over numbered nodes.
type sets []int32

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

func (s sets) find(i int32) int32 {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(a, b int32) {
	if a, b = s.find(a), s.find(b); a != b {
		s[b] = a
	}
}
