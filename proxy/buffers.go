package proxy

import (
	"math/bits"
	"sync"
)

// buffers hands out the buffers that bodies are copied through. Chunks are
// small: a buffer of 32 KiB would cost more than the copying.
type buffers struct{ pool sync.Pool }

const bufferSize = 4 << 10

// Get returns a buffer.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return p[:]
	}
	return make([]byte, bufferSize)
}

// Put takes a buffer back.
func (b *buffers) Put(p []byte) { b.pool.Put((*[bufferSize]byte)(p)) }

// bodies hands out the memory that request bodies are kept in until they have been
// read, by its size: 4 KiB, twice as much, and so on up to 1 MiB.
type bodies [9]sync.Pool

const (
	smallest = 4 << 10
	// trusted is how much memory is given to what a client announces, in bytes. A
	// longer body has it as it comes.
	trusted = smallest << 8
)

// get returns room for so many bytes, trusted at the most.
func (b *bodies) get(size int) []byte {
	class := sizeClass(size)
	if p, ok := b[class].Get().(*[]byte); ok {
		return (*p)[:0]
	}
	return make([]byte, 0, smallest<<class)
}

// put takes memory back. What had to grow is of no class.
func (b *bodies) put(p []byte) {
	if size := cap(p); size > 0 && size <= trusted && size == smallest<<sizeClass(size) {
		p = p[:0]
		b[sizeClass(size)].Put(&p)
	}
}

func sizeClass(size int) int { return bits.Len(uint(max(size, smallest)-1) / smallest) }
