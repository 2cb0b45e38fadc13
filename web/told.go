package web

import (
	"bytes"
	"encoding/json"
)

// The server-sent events of the log. Each is one line of JSON; rows and parts are
// HTML made by the templates of the page itself, so they cannot differ from it.
//
//	started   an exchange began            {"id", "html"}
//	phase     it has come further          {"id", "html"}
//	finished  it has ended                 {"id", "html"}; html is "" where its row is to go
//	gap       too many ended to be shown   {"html"}
//	summary   what is above the table      {"html"}
//	recorder  whether all is recorded      {"html"}
//	reset     what was shown is too old    {}
type told struct {
	ID   string `json:"id,omitempty"`
	HTML string `json:"html"`
}

var resetEvent = []byte("event: reset\ndata: {}\n\n")

// tellRow tells of an exchange. No row stands for one that is to go.
func (a *audience) tellRow(kind, id string, r *row) {
	t := told{ID: plain(id, nameRunes)}
	if r != nil {
		t.HTML = a.draw("row", r)
	}
	a.write(kind, t)
}

// tellGap tells that not all of what came is shown.
func (a *audience) tellGap() {
	a.write("gap", told{HTML: a.draw("gap", row{Break: a.sheet.l.say("live.gap"), Span: a.sheet.span()})})
}

// parts are the views' parts above the table.
type parts struct {
	Summary summary
	Filters filters
}

func (a *audience) tellParts(p parts) { a.write("summary", told{HTML: a.draw("parts", p)}) }

// tellRecorder tells whether the log can be relied on, where that has changed.
func (a *audience) tellRecorder() {
	if now := a.site.recorder(a.sheet.l); now != a.recorder {
		a.recorder = now
		a.write("recorder", told{HTML: a.draw("recorder", now)})
	}
}

// tellPosition tells how far the news have come, so that a page which returns can
// say from where it has missed them.
func (a *audience) tellPosition(position string) {
	a.out.WriteString("id: " + position + "\n\n")
}

func (a *audience) draw(template string, of any) string {
	var b bytes.Buffer
	if err := a.page.templates["log"].ExecuteTemplate(&b, template, of); err != nil {
		a.site.Log.Error("live view failed", "template", template, "error", err)
	}
	return b.String()
}

func (a *audience) write(kind string, t told) {
	a.out.WriteString("event: " + kind + "\ndata: ")
	e := json.NewEncoder(&a.out)
	e.SetEscapeHTML(false)
	_ = e.Encode(t) // strings are always JSON; it ends the line
	a.out.WriteString("\n")
}
