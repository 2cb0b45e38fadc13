package proxy

import "strings"

// excision takes out of a stream of chat chunks what is in it only because usage
// was asked for: the chunk that has usage and no choices, and the null usage that,
// by OpenAI's documents, every other one has then. It comes to the same in whatever
// pieces the stream comes, and lets all else pass as it came: an event is held back
// for as long as it may be that chunk, a member of one for as long as it may be that
// null.
type excision struct {
	held  []byte // the end of what came, not passed on yet
	spare []byte // what was passed on last; its memory is used again
	line  []byte // how the line begins
	cr    bool   // the last byte was a carriage return
	gone  bool   // with it ended an event that was taken out
	event suspect
}

// suspect is the event that is being read. Its places are in what is held.
type suspect struct {
	begun     bool // it has a field
	other     bool // it is not the one to be taken out
	usage     bool // it has usage
	noChoices bool // it has choices, of which there are none
	from      int  // where it begins

	read            bool // the rest of it is not looked at
	depth           int
	quoted, escaped bool
	member          []byte // how the member of the outer object begins, without white space
	memberFrom      int    // where it begins, with the comma before it
	first           bool   // there is none before it
	cut             bool   // there was, but it has been taken out
}

const (
	dataField   = "data:"
	nullUsage   = `"usage":null`
	someUsage   = `"usage":{`
	noChoices   = `"choices":[]`
	someChoices = `"choices":[{`
	maxHeld     = 16 << 10 // no chunk of usage alone is as long
)

// write takes what came next, and gives what can be passed on by now, which is
// good until the next call.
func (x *excision) write(p []byte) []byte {
	for _, b := range p {
		x.held = append(x.held, b)
		x.step(b)
	}
	return x.release(x.certain())
}

// close gives what is left at the end of the stream.
func (x *excision) close() []byte {
	x.dropUsage() // even if no blank line came after it
	return x.release(len(x.held))
}

// certain is how much of what is held can be passed on.
func (x *excision) certain() int {
	e := &x.event
	switch {
	case e.begun && !e.other:
		return e.from
	case e.depth == 1 && strings.HasPrefix(nullUsage, string(e.member)):
		return e.memberFrom
	}
	return len(x.held)
}

func (x *excision) release(n int) []byte {
	out := x.held[:n]
	x.held, x.spare = append(x.spare[:0], x.held[n:]...), x.held
	x.event.from -= n
	x.event.memberFrom -= n
	return out
}

// step reads a byte, the last of those that are held.
func (x *excision) step(b byte) {
	switch {
	case b == '\n' && x.cr: // the other half of a line's end
		if x.gone {
			x.held = x.held[:len(x.held)-1]
		}
	case b == '\n' || b == '\r':
		x.endLine()
	case len(x.line) < len(dataField):
		x.beginLine(b)
	case string(x.line) == dataField && !x.event.read:
		x.json(b)
	}
	x.cr, x.gone = b == '\r', x.gone && b == '\r'
	if e := &x.event; e.begun && len(x.held)-e.from > maxHeld {
		e.other = true
	}
}

// beginLine reads a byte of a line's beginning. A comment begins no event, and what
// is no field of one belongs to none that is to be taken out.
func (x *excision) beginLine(b byte) {
	e := &x.event
	if len(x.line) == 0 && b != ':' && !e.begun {
		e.begun, e.from = true, len(x.held)-1
	}
	x.line = append(x.line, b)
	if len(x.line) == len(dataField) && string(x.line) != dataField && !mayBeField(x.line) {
		e.other = true
	}
}

// mayBeField says whether a line that begins so may be a field without data, or a
// comment.
func mayBeField(line []byte) bool {
	for _, begin := range []string{":", "event", "id", "retry"} {
		if strings.HasPrefix(string(line), begin) {
			return true
		}
	}
	return false
}

// endLine ends a line, and the event if the line is empty.
func (x *excision) endLine() {
	if len(x.line) == 0 {
		x.gone = x.dropUsage()
		x.event = suspect{member: x.event.member[:0]}
	}
	x.line = x.line[:0]
}

// dropUsage takes the event out if it is usage alone, and whole.
func (x *excision) dropUsage() bool {
	e := &x.event
	if e.other || !e.usage || !e.noChoices || e.depth > 0 {
		return false
	}
	x.held = x.held[:e.from]
	return true
}

// json reads a byte of an event's data.
func (x *excision) json(b byte) {
	e := &x.event
	if e.quoted {
		e.quoted, e.escaped = e.escaped || b != '"', b == '\\' && !e.escaped
		e.extend(b)
		return
	}
	switch {
	case b == ' ' || b == '\t':
		x.space()
	case e.depth == 0:
		x.open(b)
	case e.depth == 1 && (b == ',' || b == '}'):
		x.endMember(b)
	default:
		e.nest(b)
		e.extend(b)
	}
}

// nest follows how deep in the chunk, or in a string, the next byte is.
func (e *suspect) nest(b byte) {
	switch b {
	case '{', '[':
		e.depth++
	case '}', ']':
		e.depth--
	case '"':
		e.quoted = true
	}
}

// open reads the first byte of the data: that of a chunk opens an object.
func (x *excision) open(b byte) {
	e := &x.event
	if b != '{' {
		e.other, e.read = true, true
		return
	}
	e.depth, e.first, e.memberFrom = 1, true, len(x.held)
}

// extend reads a byte of a member that is no white space.
func (e *suspect) extend(b byte) {
	if len(e.member) > len(nullUsage) {
		return
	}
	e.member = append(e.member, b)
	switch string(e.member) {
	case someUsage:
		e.usage = true
	case noChoices:
		e.noChoices = true
	case someChoices:
		e.other = true
	}
}

// space reads white space between the parts of a chunk. It is taken out with a
// member that it follows as the first.
func (x *excision) space() {
	e := &x.event
	switch {
	case e.cut && len(e.member) == 0:
		x.held = x.held[:len(x.held)-1]
	case e.depth == 1 && len(x.held)-e.memberFrom > maxHeld:
		e.extend(' ') // too much of it to be waited out
	}
}

// endMember ends a member of the outer object with the comma or brace that is the
// last byte held. A null usage is taken out: with the comma before it, or the one
// behind it if it is the first.
func (x *excision) endMember(by byte) {
	e := &x.event
	null := string(e.member) == nullUsage
	e.member = e.member[:0]
	if e.read = by == '}'; e.read {
		e.depth = 0
	}
	if null && e.first && !e.read {
		x.held, e.cut = x.held[:e.memberFrom], true
		return
	}
	if null {
		x.held = append(x.held[:e.memberFrom], by)
	}
	e.first, e.cut, e.memberFrom = false, false, len(x.held)-1
}
