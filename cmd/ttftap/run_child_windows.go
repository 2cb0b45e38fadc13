package main

import "os"

// passedOn are the signals that would end this program: they must not, before the
// command has ended.
func passedOn() []os.Signal { return []os.Signal{os.Interrupt} }

// hadByAll: whatever has the console gets what its keys send.
func hadByAll(os.Signal) bool { return true }

func statusOf(p *os.ProcessState) int { return p.ExitCode() }
