package proxy

import (
	"sync"
	"sync/atomic"
)

// crew does what goes on beside the requests. Its goroutines stay for a next job:
// to grow the stack of a new one takes longer than most of them.
type crew struct {
	jobs    chan func() // taken by who waits for one
	waiting atomic.Int64
	home    chan struct{} // closed when nobody is to wait any more
	dismiss func()        // closes home
}

// maxWaiting is how many goroutines wait for a job at the most.
const maxWaiting = 64

func newCrew() *crew {
	c := &crew{jobs: make(chan func()), home: make(chan struct{})}
	c.dismiss = sync.OnceFunc(func() { close(c.home) })
	return c
}

// do has a job done, at once and beside the caller.
func (c *crew) do(job func()) {
	select {
	case c.jobs <- job:
	default:
		go c.work(job)
	}
}

func (c *crew) work(job func()) {
	for job != nil {
		job()
		job = c.next()
	}
}

// next waits for a job, nil where enough others do, or for none.
func (c *crew) next() func() {
	defer c.waiting.Add(-1)
	if c.waiting.Add(1) > maxWaiting {
		return nil
	}
	select {
	case job := <-c.jobs:
		return job
	case <-c.home:
		return nil
	}
}
