package sse

import "bytes"

// lines cuts a stream into lines that end in LF, CR or CRLF, and keeps the
// begun one between two writes. Of a line it keeps no more than max bytes.
//
// A line that lies inside one write is a slice of it: nothing is copied.
type lines struct {
	max     int
	begun   []byte // what the writes so far held of a line without its end
	cr      bool   // the last write ended in CR: an LF at the next one's front belongs to it
	started bool   // the first line, and with it any byte order mark, is over
}

// each calls line for every line that ends in p and returns what follows the
// last of them.
func (l *lines) each(p []byte, line func([]byte)) (rest []byte) {
	if l.cr && len(p) > 0 {
		l.cr = false
		p = bytes.TrimPrefix(p, lf)
	}
	next := -1 // the next LF in p, found once
	for i := 0; ; {
		if next < i {
			next = indexOrEnd(p, i, '\n')
		}
		end := i + indexOrEnd(p[i:next], 0, '\r')
		if end == len(p) {
			return p[i:]
		}
		line(l.whole(p[i:end]))
		i = end + 1
		if p[end] == '\r' {
			i = l.skipLF(p, i)
		}
	}
}

// skipLF steps over the LF of a CRLF, or notes that it may come yet.
func (l *lines) skipLF(p []byte, i int) int {
	switch {
	case i == len(p):
		l.cr = true
	case p[i] == '\n':
		i++
	}
	return i
}

// whole is the line that ends with tail. It is valid until the next carry.
func (l *lines) whole(tail []byte) []byte {
	line := tail
	if len(l.begun) > 0 {
		l.carry(tail)
		line = l.begun
		l.begun = l.begun[:0]
	}
	if !l.started {
		l.started = true
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	return line
}

// carry keeps the begin of a line, as far as max allows.
func (l *lines) carry(rest []byte) {
	if len(l.begun) == 0 {
		l.begun = reuse(l.begun)
	}
	room := max(0, l.max-len(l.begun))
	l.begun = append(l.begun, rest[:min(room, len(rest))]...)
}

// last is the line that the stream ended in, nil for none.
func (l *lines) last() []byte {
	if len(l.begun) == 0 {
		return nil
	}
	return l.whole(nil)
}

// keepCap is the most that is kept of an emptied buffer.
const keepCap = 1 << 20

// reuse empties a buffer, or lets go of a huge one.
func reuse(b []byte) []byte {
	if cap(b) > keepCap {
		return nil
	}
	return b[:0]
}

// indexOrEnd is the index in p of the first c from i on, len(p) without one.
func indexOrEnd(p []byte, i int, c byte) int {
	if n := bytes.IndexByte(p[i:], c); n >= 0 {
		return i + n
	}
	return len(p)
}

var (
	lf            = []byte("\n")
	byteOrderMark = []byte("\xef\xbb\xbf")
)
