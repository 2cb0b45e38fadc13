package audit

import "math"

// alone is what it costs to leave a row without a partner: two such cost less
// than a pair of which nothing fits.
const alone = 4.5

// assign finds the cheapest way to pair rows with columns, where cost is what a
// pair costs (+Inf: none) and leaving both alone costs twice alone. It returns
// the column of each row, or -1. It is the shortest augmenting path method with
// potentials: the time grows with the cube of the size, so it is for small parts.
func assign(cost [][]float64) []int {
	rows := len(cost)
	if rows == 0 {
		return nil
	}
	cols := len(cost[0])
	m := matcher{
		cost: cost, cols: cols, all: rows + cols,
		u: make([]float64, rows+1), v: make([]float64, rows+cols+1), row: make([]int, rows+cols+1),
	}
	for i := 1; i <= rows; i++ {
		m.augment(i)
	}
	found := make([]int, rows)
	for i := range found {
		found[i] = -1
	}
	for j := 1; j <= cols; j++ {
		if m.row[j] > 0 {
			found[m.row[j]-1] = j - 1
		}
	}
	return found
}

// matcher holds the potentials. Beside its real columns each row may take one of
// the spare ones, which stand for no partner.
type matcher struct {
	cost      [][]float64
	cols, all int
	u, v      []float64
	row       []int // of each column, from 1; 0: free
}

func (m *matcher) price(i, j int) float64 {
	if j > m.cols {
		return 2 * alone
	}
	return m.cost[i-1][j-1]
}

// augment gives row i a column, moving others where that is cheaper.
func (m *matcher) augment(i int) {
	least, before, used := make([]float64, m.all+1), make([]int, m.all+1), make([]bool, m.all+1)
	for j := range least {
		least[j] = math.Inf(1)
	}
	m.row[0] = i
	at := 0
	for m.row[at] != 0 {
		used[at] = true
		at = m.step(at, least, before, used)
	}
	for at != 0 {
		m.row[at] = m.row[before[at]]
		at = before[at]
	}
}

// step goes from a column to the next nearest one.
func (m *matcher) step(at int, least []float64, before []int, used []bool) int {
	delta, next := math.Inf(1), 0
	for j := 1; j <= m.all; j++ {
		if used[j] {
			continue
		}
		if cur := m.price(m.row[at], j) - m.u[m.row[at]] - m.v[j]; cur < least[j] {
			least[j], before[j] = cur, at
		}
		if least[j] < delta {
			delta, next = least[j], j
		}
	}
	for j := 0; j <= m.all; j++ {
		if used[j] {
			m.u[m.row[j]] += delta
			m.v[j] -= delta
		} else {
			least[j] -= delta
		}
	}
	return next
}
