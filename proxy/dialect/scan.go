package dialect

import "bytes"

// scanner walks JSON in place, once and without recursion: a value is either
// walked into by object or array, or passed over by value. Of what is no JSON it
// makes anything or nothing, but it ends, and knows that it is broken.
type scanner struct {
	data   []byte
	at     int
	broken bool
}

// extent is a range of the data.
type extent struct{ start, end int }

func (s *scanner) text(v extent) []byte { return s.data[v.start:v.end] }

// peek is the first byte of what comes next, 0 where nothing does.
func (s *scanner) peek() byte {
	for ; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
		default:
			return s.data[s.at]
		}
	}
	return 0
}

// take passes over a byte that must come next.
func (s *scanner) take(b byte) bool {
	if s.broken || s.peek() != b {
		s.broken = true
		return false
	}
	s.at++
	return true
}

// object walks an object. Field is called at each value, which it must pass
// over, with its key as written and where the field begins: at the comma before
// it, if there is one.
func (s *scanner) object(field func(key []byte, from int)) {
	s.list('{', '}', func(from int) {
		if s.peek() != '"' {
			s.broken = true
			return
		}
		key := s.value()
		if s.take(':') {
			field(s.data[key.start+1:key.end-1], from)
		}
	})
}

// array walks an array. Item is called at each value, which it must pass over.
func (s *scanner) array(item func()) { s.list('[', ']', func(int) { item() }) }

func (s *scanner) list(open, end byte, item func(from int)) {
	if !s.take(open) {
		return
	}
	if s.peek() == end {
		s.at++
		return
	}
	for from := s.at; !s.broken; s.take(',') {
		item(from)
		if s.peek() == end {
			s.at++
			return
		}
		from = s.at // the comma
	}
}

// value passes over any value, however deep, and returns where it stands.
func (s *scanner) value() extent {
	first := s.peek()
	start := s.at
	switch {
	case s.broken || first == 0:
		s.broken = true
	case first == '"':
		s.string()
	case first == '{' || first == '[':
		s.nested()
	default:
		s.at += len(s.data[s.at:]) - len(bytes.TrimLeft(s.data[s.at:], "+-.0123456789Eaeflnrstu"))
		s.broken = s.at == start
	}
	return extent{start, s.at}
}

// string passes over a string.
func (s *scanner) string() {
	length := stringEnd(s.data[s.at+1:])
	s.at += 1 + length
	s.broken = length == 0 || s.data[s.at-1] != '"'
}

// nested passes over an object or array. Which bracket closes which is not
// looked at.
func (s *scanner) nested() {
	for depth := 0; s.at < len(s.data) && !s.broken; {
		switch s.data[s.at] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			s.string()
			continue
		}
		if s.at++; depth == 0 {
			return
		}
	}
	s.broken = true
}
