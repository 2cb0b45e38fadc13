package console

import (
	"errors"
	"io"
)

// MaxFile is how many bytes a file may have, and what is in a zip together.
const MaxFile = 1 << 30

// Nothing beyond these is read, and nothing is cut short to fit: a file that
// has more is refused.
const (
	headBytes   = 4 << 10
	maxRow      = 4 << 20   // bytes of a row: whole prompts are in some
	maxColumns  = 1000      // of a header
	maxRows     = 500_000   // of a file
	maxMembers  = 100       // of a zip
	maxWorkbook = 192 << 20 // bytes of a workbook, unpacked: it is read into memory
	maxRemarks  = 100       // warnings on rows, beyond which they are counted
)

var errRowTooLarge = errors.New("the row is too large")

// budget reads no more than maxRow bytes past where it was last renewed.
type budget struct {
	in   io.Reader
	left int
}

func (b *budget) renew() { b.left = maxRow }

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errRowTooLarge
	}
	n, err := b.in.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
