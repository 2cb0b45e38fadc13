//go:build !linux

package main

import "testing"

// machineFaults are for systems where a test may take disk, memory and descriptors
// away from a program.
func machineFaults() []fault { return nil }

// descriptors are not told here.
func (c *child) descriptors(*testing.T) int { return 0 }
