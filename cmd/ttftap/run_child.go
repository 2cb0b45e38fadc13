package main

import (
	"fmt"
	"os"
	"os/exec"
)

// runChild runs a command to its end and hands on the signals that come. The error
// says why it could not be run.
func runChild(c *exec.Cmd, signals <-chan os.Signal) (status int, err error) {
	if err := c.Start(); err != nil {
		return 126, fmt.Errorf("run: %s cannot be run: %w", c.Args[0], err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait() // the state tells
	}()
	for {
		select {
		case s := <-signals:
			if !hadByAll(s) {
				_ = c.Process.Signal(s) // it may have ended just now
			}
		case <-ended:
			return statusOf(c.ProcessState), nil
		}
	}
}
