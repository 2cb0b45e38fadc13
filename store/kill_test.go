package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const childLog = "TTFTAP_TEST_CHILD_LOG" // where this very program records until it is killed

func TestMain(m *testing.M) {
	if path := os.Getenv(childLog); path != "" {
		recordUntilKilled(path)
	}
	os.Exit(m.Run())
}

// recordUntilKilled has one exchange under way and one ended, says that both are
// in the log, and stops at nothing but a kill.
func recordUntilKilled(path string) {
	s, err := Open(context.Background(), path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	r := NewRecorder(s, slog.New(slog.DiscardHandler))
	for _, x := range []*exchange.Exchange{bare("01", exchange.Open), typical(2)} {
		r.Record(x)()
	}
	fmt.Println("recorded")
	select {}
}

func TestAfterAKillTheLogHasAllAndTheOpenOnesAreInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childLog+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "recorded\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrLocked) {
		t.Errorf("its log was opened by another process: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()

	s := openAt(t, path) // the lock went with the process
	wantInterrupted(t, s, "01")
	if x, err := s.Exchange(t.Context(), typical(2).ID); err != nil || x.Outcome != exchange.OK {
		t.Errorf("the ended exchange is %v, %v", x, err)
	}
}

func wantInterrupted(t *testing.T, s *Store, id string) {
	t.Helper()
	x, err := s.Exchange(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if x.Outcome != exchange.Interrupted || x.Bound != "" || x.Error == "" || x.End != nil {
		t.Errorf("the open exchange became %+v", x)
	}
}
