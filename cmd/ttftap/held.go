package main

import (
	"io"
	"sync"
)

// heldMost is how much is held back; what comes beyond it is dropped.
const heldMost = 64 << 10

// held keeps what is written back until it is released: meanwhile the screen
// belongs to somebody else.
type held struct {
	w io.Writer

	mu       sync.Mutex
	text     []byte
	released bool
}

// Write writes through once nothing is held back any more.
func (h *held) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		return h.w.Write(p)
	}
	if len(h.text)+len(p) <= heldMost {
		h.text = append(h.text, p...)
	}
	return len(p), nil
}

func (h *held) release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.w.Write(h.text)
	h.text, h.released = nil, true
	return err
}
