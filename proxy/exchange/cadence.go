package exchange

import "time"

// Cadence is how the output of a stream came, spread over time: all of it, or
// what came after reasoning that was hidden or told by summaries. Its times are
// whole milliseconds and count from the first read of that output.
type Cadence struct {
	Step  time.Duration // length of each step
	First Portion       // came with the first read, and was made before it
	Steps []Portion     // came in each step from then to the last read
	Gaps  []Gap         // the silences that stand out, the few longest of them in order; nil for none
}

// Portion is the output that came in a stretch of time, in bytes of its text.
type Portion struct {
	Reasoning int64
	Answer    int64 // any other output
}

// Gap is a silence in the output, with no part in it of hosted tools and of
// reasoning that is not shown.
type Gap struct{ From, Took time.Duration }

// Bytes is all of the output.
func (c *Cadence) Bytes() int64 {
	sum := c.First.Bytes()
	for _, p := range c.Steps {
		sum += p.Bytes()
	}
	return sum
}

// Bytes is both kinds together.
func (p Portion) Bytes() int64 { return p.Reasoning + p.Answer }
