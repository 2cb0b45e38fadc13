package experiment

import (
	"cmp"
	"slices"
	"time"
)

// tell fills in what the requests of an arm tell. Spikes are in all of it.
func (a *ArmReport) tell(rows []row) {
	a.Sent, a.Failures = len(rows), failures(rows)
	for _, r := range rows {
		if r.answered() {
			a.Answered++
		} else if r.limited() {
			a.RateLimited++
		}
	}
	over := func(value func(row) *float64) *Estimate {
		e := middle(known(rows, value))
		if e != nil {
			*e = e.notBelow(0)
		}
		return e
	}
	a.TTFT = over(func(r row) *float64 { return r.TTFT })
	a.Wait = over(func(r row) *float64 { return r.Wait })
	a.Network = over(func(r row) *float64 { return r.Network })
	a.Queue = over(row.queue)
	a.Prefill = over(row.prefill)
	a.Total = over(func(r row) *float64 { return r.Total })
	a.Rate = over(func(r row) *float64 { return r.Rate })
	a.Prompt = over(func(r row) *float64 { return number(r.Prompt) })
	a.Cached = over(func(r row) *float64 { return number(r.Cached) })
	a.Uncached = over(func(r row) *float64 { return number(r.Uncached) })
	a.Output = over(func(r row) *float64 { return number(r.Output) })
}

// queue is the row's queue by the server's own timing.
func (r row) queue() *float64 { return r.served(r.x.ServerQueue) }

// prefill is the row's prefill by the server's own timing.
func (r row) prefill() *float64 { return r.served(r.x.ServerPrefill) }

// served is what the server told of an answer.
func (r row) served(d *time.Duration) *float64 {
	if !r.answered() {
		return nil
	}
	return millis(d)
}

// ofArm are the rows of one arm.
func ofArm(rows []row, arm int) []row {
	var of []row
	for _, r := range rows {
		if r.Arm == arm {
			of = append(of, r)
		}
	}
	return of
}

// failures counts what failed, the most frequent way first.
func failures(rows []row) []Failure {
	all := []Failure{}
	for _, r := range rows {
		if !r.failed() {
			continue
		}
		i := slices.IndexFunc(all, func(f Failure) bool { return f.Outcome == r.Outcome && status(f.Status) == status(r.Status) })
		if i < 0 {
			all = append(all, Failure{Outcome: r.Outcome, Status: r.Status, Count: 1})
			continue
		}
		all[i].Count++
	}
	slices.SortFunc(all, func(f, g Failure) int {
		return cmp.Or(g.Count-f.Count, cmp.Compare(f.Outcome, g.Outcome), cmp.Compare(status(f.Status), status(g.Status)))
	})
	return all
}

// status is 0 where there was none.
func status(s *int64) int64 {
	if s == nil {
		return 0
	}
	return *s
}
