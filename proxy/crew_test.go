package proxy

import (
	"sync"
	"testing"
	"testing/synctest"
)

func TestNoJobWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		defer c.dismiss()
		release := make(chan struct{})
		var all sync.WaitGroup
		for range 2 * maxWaiting {
			all.Add(2)
			c.do(func() { <-release; all.Done() })
			c.do(all.Done) // which must not be behind the one that waits
		}
		synctest.Wait()
		close(release)
		all.Wait()
		synctest.Wait()
		if n := c.waiting.Load(); n != maxWaiting {
			t.Errorf("%d wait for a job, want %d", n, maxWaiting)
		}
	})
}

func TestACrewThatIsDismissedStillDoesItsJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		c.dismiss()
		c.dismiss() // again means nothing
		done := false
		c.do(func() { done = true })
		synctest.Wait()
		if !done || c.waiting.Load() != 0 {
			t.Errorf("done: %v, and %d wait", done, c.waiting.Load())
		}
	})
}
