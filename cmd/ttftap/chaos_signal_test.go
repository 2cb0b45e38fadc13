package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func signalFaults() []fault {
	return []fault{
		{name: "SIGTERM with streams open", tries: 5, alone: true, try: TestFirstSignalLetsStreamsEnd},
		{name: "SIGTERM with rows that wait for a locked log", tries: 5, alone: true, try: TestAFirstSignalLosesNothingThatIsQueued},
		{name: "a second signal", tries: 5, alone: true, try: TestSecondSignalEndsAtOnce},
		{name: "SIGPIPE: nobody reads its output any more", tries: 5, try: outputIsClosed},
	}
}

// outputIsClosed closes both ends that the program writes to, upon which each line
// it writes is a SIGPIPE.
func outputIsClosed(t *testing.T) {
	db := logOf(t)
	cmd := exec.Command(program(), "serve", "--listen", "localhost:0", "--upstream", quickModel(t), "--db", db)
	out, stdout := must2(os.Pipe())
	errs, stderr := must2(os.Pipe())
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	stdout.Close()
	stderr.Close()
	line := must(bufio.NewReader(out).ReadString('\n'))
	out.Close()
	errs.Close()
	c := &child{Cmd: cmd, db: db, base: strings.TrimSpace(strings.TrimPrefix(line, "ttftap listening on "))}
	answers := c.passes(t, inChaos(200*time.Millisecond, 2*time.Second))
	c.recorded(t)
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if got := outcomes(t, db); got["ok"] != answers {
		t.Errorf("rows %v of %d answers", got, answers)
	}
}
