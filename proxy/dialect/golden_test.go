package dialect

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is read of the fixtures beside them, to be checked by eye")

// A fixture is a body in testdata/FORMAT; beside it, in a file that ends in
// .want, stands its meaning: one line an event, then the answer.
func TestEveryFixtureMeansWhatStandsBesideIt(t *testing.T) {
	for _, file := range fixtures(t) {
		t.Run(file, func(t *testing.T) {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			ext := filepath.Ext(file)
			got := meaning(replay(formatOf(file), ext, body))
			wanted := file + ".want"
			if *update {
				if err := os.WriteFile(wanted, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			sameInAnyCut(t, formatOf(file), ext, body, chunks(body, 1))
		})
	}
}

func meaning(events []Event, answer *Answer) string {
	var b strings.Builder
	for i, e := range events {
		fmt.Fprintf(&b, "event %d: %s\n", i, describe(e))
	}
	for _, line := range describeAnswer(answer) {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}
