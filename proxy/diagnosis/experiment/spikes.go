package experiment

import "slices"

// Spikes are the requests that waited far longer than others of their arm: beyond
// its median by more than six times the usual distance from it (the median of
// those), by more than a quarter of it, and by more than 50 ms.
type Spikes struct {
	Of     int      `json:"of"`        // requests
	Steps  []int    `json:"steps"`     // that were spikes
	Excess *float64 `json:"excess_ms"` // median of what a spike took beyond the median of its arm; nil without one
}

const (
	spikeDistances = 6
	spikeShare     = 0.25
	spikeLeast     = 50 // ms
)

// markSpikes sets Over of the rows that are spikes, and sums them up. Nil where
// no arm has enough requests.
func markSpikes(rows []row, arms int) *Spikes {
	s := &Spikes{Steps: []int{}}
	var excess []float64
	for arm := range arms {
		var of []*row
		for i := range rows {
			if rows[i].Arm == arm && rows[i].Wait != nil {
				of = append(of, &rows[i])
			}
		}
		if len(of) >= fewValues {
			s.Of += len(of)
			excess = append(excess, s.mark(of)...)
		}
	}
	slices.Sort(s.Steps)
	if e := middle(excess); e != nil {
		s.Excess = &e.At
	}
	if s.Of == 0 {
		return nil
	}
	return s
}

// mark finds the spikes of one arm and returns what each took beyond its median.
func (s *Spikes) mark(arm []*row) (excess []float64) {
	waits := make([]float64, len(arm))
	for i, r := range arm {
		waits[i] = *r.Wait
	}
	usual, bar := spikeBar(waits)
	slowest := usual
	for _, w := range waits {
		if w <= bar {
			slowest = max(slowest, w)
		}
	}
	for _, r := range arm {
		if *r.Wait > bar {
			s.Steps = append(s.Steps, r.Step)
			excess = append(excess, *r.Wait-usual)
			r.Over = new(*r.Wait - slowest)
		}
	}
	return excess
}

// spikeBar is the median of waits and what only spikes are above.
func spikeBar(waits []float64) (usual, bar float64) {
	usual = middle(waits).At
	distances := make([]float64, len(waits))
	for i, w := range waits {
		distances[i] = max(w-usual, usual-w)
	}
	return usual, usual + max(spikeDistances*middle(distances).At, spikeShare*usual, spikeLeast)
}
