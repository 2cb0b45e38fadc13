package console_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ttftap/ttftap/store/audit/console"
)

func TestTry(t *testing.T) {
	files, _ := filepath.Glob("../../../../shared/audit/samples/*")
	for _, f := range files {
		in, _ := os.Open(f)
		st, _ := in.Stat()
		got, err := console.Read(filepath.Base(f), in, st.Size(), console.Options{})
		if err != nil {
			t.Log(f, err)
			continue
		}
		for _, g := range got {
			t.Log(g.Name, g.Source, g.Zoneless, g.From, g.To, len(g.Records), g.Warnings)
			for i, r := range g.Records {
				if i < 3 {
					b, _ := json.Marshal(r)
					t.Log(string(b))
				}
			}
		}
	}
}
