//go:build !windows

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Each signal goes on to the command once, and the proxy outlives it until the
// command has ended: what it sends then still gets an answer.
func TestSignalsGoOnToTheCommand(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(s) {
				t.Skip("SKIPPED: the signal is ignored here, as below nohup, and no shell traps it then")
			}
			script := fmt.Sprintf(`n=0; trap 'n=$((n+1))' %d; echo there; while [ $n = 0 ]; do sleep 0.02; done; sleep 0.2
				echo $n >&2; ask OPENAI_BASE_URL /responses >/dev/null && exit 42`, int(s))
			b := below(t, "--json", "--upstream", simulated(t), "--", "sh", "-c", script)
			if err := b.Start(); err != nil {
				t.Fatal(err)
			}
			await(t, func() bool { return b.out.String() == "there\n" })
			b.Process.Signal(s)
			b.Wait()
			b.ended(t, 42)
			if !strings.Contains(b.err.String(), "\n1\n") {
				t.Errorf("it did not come once: %s", b.err.String())
			}
			if n := b.told(t).Requests; n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestCommandThatASignalEndsIsSummedUp(t *testing.T) {
	t.Parallel()
	b := below(t, "--json", "--", "sh", "-c", "echo there; exec sleep 60")
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return b.out.String() == "there\n" })
	b.Process.Signal(syscall.SIGTERM)
	b.Wait()
	b.ended(t, 143)
	b.told(t)
}

// What the command leaves behind may finish its answer, unless a signal ends that.
func TestSignalAfterTheCommandEndsWhatItLeftBehind(t *testing.T) {
	t.Parallel()
	upstream, _ := gated(t)
	b := below(t, "--json", "--upstream", upstream, "--", "sh", "-c", "ask OPENAI_BASE_URL /chat/completions > heard & until [ -s heard ]; do sleep 0.1; done")
	b.Dir = t.TempDir()
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(b.data, "ttftap", "ttftap.db")
	await(t, func() bool { // the command has ended when the proxy takes no more connections
		return strings.Contains(b.err.String(), "streams under way may end")
	})
	b.Process.Signal(os.Interrupt)
	b.Wait()
	b.ended(t, 0)
	if got := outcomes(t, log); got["interrupted"] != 1 || len(got) != 1 {
		t.Errorf("rows %v", got)
	}
	if n := b.told(t).Requests; n != 1 {
		t.Errorf("%d requests", n)
	}
}

// A command starts with the signals as they are by default; only what was ignored
// above stays ignored.
func TestCommandInheritsNoIgnoredSignal(t *testing.T) {
	t.Parallel()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil || !strings.Contains(string(status), "SigIgn") {
		t.Skip("SKIPPED: this system does not tell what is ignored")
	}
	ignored := func(words ...string) string {
		b := below(t)
		words = append(words, "sh", "-c", "grep SigIgn /proc/self/status")
		b.Path, b.Args = must(exec.LookPath(words[0])), words
		b.ends(t, 0)
		return b.out.String()
	}
	for _, above := range [][]string{nil, {"nohup"}} {
		alone, through := ignored(above...), ignored(append(above, "ttftap", "run", "--")...)
		if alone != through {
			t.Errorf("ignored: %q, and without ttftap %q", through, alone)
		}
	}
}

// A terminal stays one, and what its keys send comes to the command once.
func TestTerminalStaysATerminal(t *testing.T) {
	tool := findIn("script")
	if tool == "" {
		t.Skip("SKIPPED: there is no script to make a terminal")
	}
	b := below(t)
	inner := `n=0; trap 'n=$((n+1))' INT; test -t 0 && test -t 1 && test -t 2 && echo a terminal
		echo ready; while [ $n = 0 ]; do sleep 0.02; done; sleep 0.3; echo $n time; exit 5`
	b.Path, b.Args = tool, []string{"script", "-qefc", "exec ttftap run -- sh " + file(t, inner), os.DevNull}
	in := must(b.StdinPipe())
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return strings.Contains(b.out.String(), "ready") })
	<-time.After(50 * time.Millisecond)
	in.Write([]byte{3}) // Ctrl-C
	b.Wait()
	b.ended(t, 5)
	for _, want := range []string{"a terminal\r\n", "1 time\r\n", "ended with status 5"} {
		if !strings.Contains(b.out.String(), want) {
			t.Errorf("no %q in %q", want, b.out.String())
		}
	}
}
