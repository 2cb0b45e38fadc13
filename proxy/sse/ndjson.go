package sse

import "bytes"

// Lines cuts newline-delimited JSON out of a stream: every line that is not
// blank is a message without a name. However the stream is cut into writes, the
// messages are the same. Its zero value is ready for use.
type Lines struct {
	Limit int // bytes kept of one line; DefaultLimit if 0

	lines lines
}

// Write takes the next bytes of the stream and emits each message that they
// complete. The data of a message that lies wholly inside p is a slice of p.
func (l *Lines) Write(p []byte, emit func(Message)) {
	l.lines.max = l.limit() + slack
	rest := l.lines.each(p, func(line []byte) { l.line(line, emit) })
	l.lines.carry(rest)
}

// Close ends the stream: a line without its end is emitted. The splitter is
// then as new.
func (l *Lines) Close(emit func(Message)) {
	l.line(l.lines.last(), emit)
	*l = Lines{Limit: l.Limit}
}

func (l *Lines) limit() int {
	if l.Limit <= 0 {
		return DefaultLimit
	}
	return l.Limit
}

func (l *Lines) line(line []byte, emit func(Message)) {
	kept := line[:min(len(line), l.limit())]
	if len(bytes.TrimSpace(kept)) > 0 {
		emit(Message{Data: kept, Cut: len(kept) < len(line)})
	}
}
