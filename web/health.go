package web

import (
	"fmt"
	"html/template"
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
	if anew := s.Store.Renewal(); !anew.At.IsZero() {
		fmt.Fprintf(&b, "anew %s\n", anew.At.UTC().Format(time.RFC3339))
		if anew.Aside != "" {
			fmt.Fprintf(&b, "aside %s\n", plain(anew.Aside, proseRunes))
		}
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
	case !s.Store.Renewal().At.IsZero():
		return recorder{Trouble: true, Words: l.say("recorder.anew")}
	}
	return recorder{Words: l.say("recorder.ok")}
}

// checkRecorder says how recording goes, and what has befallen the log since the
// start.
func (s *site) checkRecorder(l language) []check {
	state := s.State()
	rec := s.recorder(l)
	all := []check{{Trouble: rec.Trouble, Words: template.HTML(template.HTMLEscapeString(rec.Words))}}
	if state.Late > 0 {
		all = append(all, check{Words: template.HTML(l.number("check.late", state.Late))})
	}
	switch anew := s.Store.Renewal(); {
	case anew.At.IsZero():
	case anew.Aside == "":
		all = append(all, check{Trouble: true, Words: l.rich("check.taken", clock(anew.At, s.Now().Location()))})
	default:
		all = append(all, check{Trouble: true, Words: l.rich("check.damaged", clock(anew.At, s.Now().Location()), plain(anew.Aside, proseRunes))})
	}
	return all
}
