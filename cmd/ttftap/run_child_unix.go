//go:build !windows

package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedOn are the signals that a command is to get which is run here. Those that
// are ignored stay so, for the command too.
func passedOn() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}
	return slices.DeleteFunc(all, signal.Ignored)
}

// hadByAll says whether a signal came from the keys of a terminal, as far as can be
// known. The terminal sends it to all that run in its foreground: the command has it.
func hadByAll(s os.Signal) bool {
	return (s == os.Interrupt || s == syscall.SIGQUIT) && inForeground()
}

func inForeground() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer terminal.Close()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// statusOf is the exit status as a shell has it.
func statusOf(p *os.ProcessState) int {
	if w, ok := p.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return p.ExitCode()
}
