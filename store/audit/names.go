package audit

import (
	"regexp"
	"strings"
)

// names knows which names of models may stand for the same one. Nothing is
// supposed of a common beginning: gpt-5 and gpt-5-mini are two.
type names struct {
	labels  map[string]int32
	members [][]name
	same    map[[2]string]bool // bases that were said, or found, to be one: here, there
	cached  map[[2]int32]float64
}

// name is a model's name, plain: without vendor and, apart, without its date.
type name struct{ raw, base, date string }

func newNames(aliases []Alias) *names {
	n := &names{labels: map[string]int32{}, same: map[[2]string]bool{}, cached: map[[2]int32]float64{}}
	for _, a := range aliases {
		n.same[[2]string{plainName(a.Here).base, plainName(a.There).base}] = true
	}
	return n
}

// label numbers a set of names that stand for one row's model.
func (n *names) label(set []string) int32 {
	joined := strings.Join(set, "\x00")
	if l, ok := n.labels[joined]; ok {
		return l
	}
	var plain []name
	for _, s := range set {
		plain = append(plain, plainName(s))
	}
	n.members = append(n.members, plain)
	l := int32(len(n.members) - 1)
	n.labels[joined] = l
	return l
}

var dated = regexp.MustCompile(`[-@](\d{4}-\d\d-\d\d|20\d{6}|(?:0[1-9]|1[0-2])[0-3]\d|latest)$`)

// plainName takes a name apart.
func plainName(raw string) name {
	s := strings.ToLower(strings.TrimSpace(raw))
	s = s[strings.LastIndexByte(s, '/')+1:]
	n := name{raw: s}
	if at := dated.FindStringIndex(s); at != nil && at[0] > 0 {
		n.date, s = s[at[0]+1:], s[:at[0]]
	}
	n.base = strings.NewReplacer(" ", "-", "_", "-", ".", "-").Replace(s)
	return n
}

// What it costs a pair that its models are not named alike.
const (
	aliasCost = 0.5
	otherwise = -1 // no pair at all
)

// cost says how far the models of two labels are from being one.
func (n *names) cost(here, there int32) float64 {
	key := [2]int32{here, there}
	if c, ok := n.cached[key]; ok {
		return c
	}
	c := n.costOf(n.members[here], n.members[there])
	n.cached[key] = c
	return c
}

func (n *names) costOf(here, there []name) float64 {
	best := float64(otherwise)
	if len(here) == 0 || len(there) == 0 {
		best = aliasCost
	}
	for _, h := range here {
		for _, t := range there {
			switch {
			case h.raw == t.raw:
				return 0
			case h.base == t.base && (h.date == t.date || h.date == "" || t.date == "" || h.date == "latest" || t.date == "latest"),
				n.same[[2]string{h.base, t.base}]:
				best = aliasCost
			}
		}
	}
	return best
}

// learn notes that a console's label stands for one of the log's.
func (n *names) learn(here, there int32) {
	for _, h := range n.members[here] {
		for _, t := range n.members[there] {
			n.same[[2]string{h.base, t.base}] = true
		}
	}
	clear(n.cached)
}

// shown is a label as the page shows it: its first name, as sent.
func (n *names) shown(label int32) string {
	if m := n.members[label]; len(m) > 0 {
		return m[0].raw
	}
	return ""
}
