package web

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// health says that the page answers and, to those who may know, how recording
// goes.
func (s *site) health(w http.ResponseWriter, r *http.Request) error {
	text := "ok\n"
	if s.admits(r) {
		text += s.stateLines()
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text)
	return nil
}

func (s *site) stateLines() string {
	state := s.State()
	var b strings.Builder
	fmt.Fprintf(&b, "queued %d\ncommitted %d\nlate %d\nlost %d\n", state.Queued, state.Committed, state.Late, state.Lost)
	if state.Error != "" {
		fmt.Fprintf(&b, "error %s\nsince %s\n", plain(state.Error, proseRunes), state.Since.UTC().Format(time.RFC3339))
	}
	return b.String()
}

// recorder is the same for the top of every view.
func (s *site) recorder(l language) recorder {
	switch state := s.State(); {
	case state.Error != "":
		return recorder{Trouble: true, Words: l.say("recorder.error")}
	case state.Lost > 0:
		return recorder{Trouble: true, Words: l.say("recorder.lost", figure.Count(&state.Lost))}
	}
	return recorder{Words: l.say("recorder.ok")}
}
