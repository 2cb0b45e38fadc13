//go:build !linux || !amd64

package main

// clockFaults are for systems where one program can be given a wall clock of its
// own. That durations come from the monotonic clock is tested everywhere.
func clockFaults() []fault { return nil }
