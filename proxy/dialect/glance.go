package dialect

// glance reads the message that nearly all of a stream is made of, a piece of text
// with its frame, in one pass and with little stack: a stream holds on to what it
// once took of that. It is lost at whatever it does not know, and at what is no
// JSON; such a message is for the full reading. Where it is not lost, it saw what
// the full reading sees.
type glance struct {
	data  []byte
	at    int
	key   []byte // of the field that it is at
	depth int    // of what is being passed over
	lost  bool
}

// maxPassed is how deep a value may be that is passed over.
const maxPassed = 8

// peek is the first byte of what comes next, 0 where nothing does.
func (g *glance) peek() byte {
	for ; g.at < len(g.data); g.at++ {
		if b := g.data[g.at]; b > ' ' {
			return b
		} else if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return 0
		}
	}
	return 0
}

// has passes over a byte if it comes next.
func (g *glance) has(b byte) bool {
	if g.peek() != b {
		return false
	}
	g.at++
	return true
}

// need passes over a byte that must come next.
func (g *glance) need(b byte) {
	if !g.has(b) {
		g.lost = true
	}
}

// field goes on to the next field of an object, behind its key. False: there is
// none, and it is behind the object. First says that none was read before.
func (g *glance) field(first bool) bool {
	if g.next(first, '}') {
		g.need('"')
		start := g.at
		if n := g.string(); n != g.at-1-start {
			g.lost = true // a key with escapes
		}
		g.key = g.data[start:max(start, g.at-1)]
		g.need(':')
		return !g.lost
	}
	return false
}

// next goes on to the next item of a list that ends in a bracket.
func (g *glance) next(first bool, end byte) bool {
	if g.lost || g.has(end) {
		return false
	}
	if !first {
		g.need(',')
	}
	return !g.lost
}

// string passes over a string behind its first quote. It returns its length without
// its escapes.
func (g *glance) string() int {
	start, escapes := g.at, 0
	for ; g.at < len(g.data); g.at++ {
		switch b := g.data[g.at]; {
		case b == '"':
			g.at++
			return g.at - 1 - start - escapes
		case b < ' ':
			g.lost = true
			return 0
		case b == '\\':
			g.at++
			escapes++
			g.lost = g.lost || !g.short()
		}
	}
	g.lost = true
	return 0
}

// short says whether it is at the letter of an escape that stands for one byte.
func (g *glance) short() bool {
	if g.at == len(g.data) {
		return false
	}
	switch g.data[g.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// text is the length of a string, 0 for null.
func (g *glance) text() int {
	if g.has('"') {
		return g.string()
	}
	g.null()
	return 0
}

// word is a string without escapes.
func (g *glance) word() []byte {
	g.need('"')
	start := g.at
	n := g.string()
	if g.lost || n != g.at-1-start {
		g.lost = true
		return nil
	}
	return g.data[start : g.at-1]
}

// null passes over null, and is lost at anything else.
func (g *glance) null() { g.literal("null") }

func (g *glance) literal(word string) {
	if g.peek(); len(g.data)-g.at < len(word) || string(g.data[g.at:g.at+len(word)]) != word {
		g.lost = true
		return
	}
	g.at += len(word)
}

// place is a small number, such as an index.
func (g *glance) place() int {
	g.peek()
	start, n := g.at, 0
	for ; g.at < len(g.data) && isDigit(g.data[g.at]); g.at++ {
		n = min(n*10+int(g.data[g.at]-'0'), maxPlaces)
	}
	digits := g.at - start
	if digits == 0 || digits > 1 && g.data[start] == '0' || n >= maxPlaces-1 {
		g.lost = true
	}
	return n
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// pass passes over a value.
func (g *glance) pass() {
	switch b := g.peek(); {
	case b == '"':
		g.at++
		g.string()
	case b == '{' || b == '[':
		g.nested(b)
	case b == 'n':
		g.null()
	case b == 't':
		g.literal("true")
	case b == 'f':
		g.literal("false")
	default:
		g.number()
	}
}

// nested passes over an object or an array.
func (g *glance) nested(open byte) {
	if g.depth++; g.depth > maxPassed {
		g.lost = true
		return
	}
	g.at++
	if open == '{' {
		for first := true; g.field(first); first = false {
			g.pass()
		}
	} else {
		for first := true; g.next(first, ']'); first = false {
			g.pass()
		}
	}
	g.depth--
}

// number passes over a number without an exponent.
func (g *glance) number() {
	if g.has('-') && g.at == len(g.data) {
		g.lost = true
		return
	}
	zero := g.at < len(g.data) && g.data[g.at] == '0'
	if n := g.digits(); n == 0 || zero && n > 1 {
		g.lost = true
	}
	if g.at < len(g.data) && g.data[g.at] == '.' {
		g.at++
		g.lost = g.lost || g.digits() == 0
	}
}

func (g *glance) digits() (n int) {
	for ; g.at < len(g.data) && isDigit(g.data[g.at]); g.at++ {
		n++
	}
	return n
}

// done says whether all was read, and nothing got lost.
func (g *glance) done() bool { return !g.lost && g.peek() == 0 && g.at == len(g.data) }
