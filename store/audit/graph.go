package audit

import "slices"

// graph is the open rows and what may belong together, at one depth of looking.
type graph struct {
	c     *comparison
	sets  sets // over the attempts, then the rows
	edges []edge
	crowd []bool // rows that have more attempts like them than are looked at
}

// edge is an attempt and a row that may be one request, and how little they look so.
type edge struct {
	here, there int32
	cost        float64
	weak        bool // nothing but their order in time speaks for it
}

func (c *comparison) newGraph() *graph {
	return &graph{c: c, sets: newSets(len(c.here) + len(c.there)), crowd: make([]bool, len(c.there))}
}

func (g *graph) node(there int32) int32 { return int32(len(g.c.here)) + there }

func (g *graph) add(e edge) {
	g.edges = append(g.edges, e)
	g.sets.join(e.here, g.node(e.there))
}

// component is a connected part of a graph.
type component struct {
	here, there []int32
	edges       []edge
	crowd       bool
}

// components takes the graph apart.
func (g *graph) components() []component {
	groups := g.c.gather(g.sets)
	at := make(map[int32]int, len(groups))
	parts := make([]component, len(groups))
	for k, group := range groups {
		parts[k] = component{here: group.here, there: group.there}
		for _, j := range group.there {
			parts[k].crowd = parts[k].crowd || g.crowd[j]
		}
		if len(group.here) > 0 {
			at[g.sets.find(group.here[0])] = k
		}
	}
	slices.SortFunc(g.edges, func(a, b edge) int {
		if a.there != b.there {
			return int(a.there - b.there)
		}
		return int(a.here - b.here)
	})
	g.edges = bestOf(g.edges)
	for _, e := range g.edges {
		k := at[g.sets.find(e.here)]
		parts[k].edges = append(parts[k].edges, e)
	}
	return parts
}

// bestOf keeps of the edges between the same two rows the cheapest.
func bestOf(sorted []edge) []edge {
	kept := sorted[:0]
	for _, e := range sorted {
		last := len(kept) - 1
		if last >= 0 && kept[last].here == e.here && kept[last].there == e.there {
			if e.cost < kept[last].cost {
				kept[last] = e
			}
			continue
		}
		kept = append(kept, e)
	}
	return kept
}
