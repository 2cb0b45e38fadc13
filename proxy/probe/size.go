package probe

import "math"

// size says how many tokens words become: by guess, until answers have told it.
// The zero value has been told nothing.
type size struct{ least, greatest told }

// told is what one answer has told of its prompt.
type told struct{ words, tokens float64 }

const (
	guessedFrame  = 32  // tokens of a prompt besides its words
	guessedSpread = 1.5 // tokens a word at most, before any is counted
	knownSpread   = 1.1 // by how much a count may be off
	slack         = 32  // tokens
)

// learn takes in how many tokens a prompt of so many words had.
func (s size) learn(words int, tokens int64) size {
	t := told{float64(words), float64(tokens)}
	if s.least.tokens == 0 || t.words < s.least.words {
		s.least = t
	}
	if t.words > s.greatest.words {
		s.greatest = t
	}
	return s
}

// line is how many tokens a word has, and a prompt besides its words.
func (s size) line() (word, frame float64) {
	switch {
	case s.greatest.words == 0:
		return 1, guessedFrame
	case s.greatest.words < 2*s.least.words || s.greatest.tokens <= s.least.tokens:
		frame = min(guessedFrame, s.greatest.tokens/2)
		return (s.greatest.tokens - frame) / s.greatest.words, frame
	}
	word = (s.greatest.tokens - s.least.tokens) / (s.greatest.words - s.least.words)
	return word, max(0, s.least.tokens-word*s.least.words)
}

// words is how many make a prompt of so many tokens, if any do.
func (s size) words(tokens int64) int {
	word, frame := s.line()
	return max(1, int(math.Round((float64(tokens)-frame)/word)))
}

// most is the number of tokens that so many words have at most.
func (s size) most(words int) int64 {
	word, frame := s.line()
	spread := knownSpread
	if s.greatest.words == 0 {
		spread = guessedSpread
	}
	return int64(math.Ceil((word*float64(words)+frame)*spread)) + slack
}
