package proxy

import (
	"slices"
	"strings"
	"sync"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// aloft are the flights that have not landed.
type aloft struct {
	mu      sync.Mutex
	flights map[*flight]struct{}
}

func (a *aloft) enter(f *flight) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.flights == nil {
		a.flights = make(map[*flight]struct{})
	}
	a.flights[f] = struct{}{}
}

func (a *aloft) leave(f *flight) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.flights, f)
}

func (a *aloft) count() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return int64(len(a.flights))
}

// soFar is what is known of each by now, the earliest first. They are asked
// without the lock, which every request needs.
func (a *aloft) soFar() []*exchange.Exchange {
	var known []*exchange.Exchange
	for _, f := range a.all() {
		if x := f.soFar(); x != nil {
			known = append(known, x)
		}
	}
	slices.SortFunc(known, func(x, y *exchange.Exchange) int { return strings.Compare(x.ID, y.ID) })
	return known
}

func (a *aloft) all() []*flight {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]*flight, 0, len(a.flights))
	for f := range a.flights {
		all = append(all, f)
	}
	return all
}
