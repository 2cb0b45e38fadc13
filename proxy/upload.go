package proxy

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

const (
	// replayable is how much of any body is kept until the answer begins. It is
	// more than a connection takes before its first write, so a body of which
	// nothing was sent can be sent from its start.
	replayable = 64 << 10
	// readable is how much of a JSON body is kept to be read.
	readable = 32 << 20
)

var (
	errReplay = errors.New("the beginning of the request body is no longer kept")
	errEnded  = errors.New("the exchange has ended")
)

// upload is the client's request body on its way to the upstream. It counts the
// bytes, keeps the beginning, and says when the last byte was read. It may be
// read by an attempt that has already failed while the next one begins, so each
// attempt reads it through a view of its own.
type upload struct {
	limit int               // bytes to keep
	atEnd func(kept []byte) // called once, when the body has been read to its end

	mu   sync.Mutex
	src  io.Reader
	kept []byte
	size int64
	err  error
}

// view is one attempt's reading of an upload.
type view struct {
	up  *upload
	pos int64
}

func (u *upload) open() io.ReadCloser { return &view{up: u} }

// Read gives the kept bytes first and the source's after them.
func (v *view) Read(p []byte) (int, error) {
	u := v.up
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case v.pos < int64(len(u.kept)):
		n := copy(p, u.kept[v.pos:])
		v.pos += int64(n)
		return n, nil
	case v.pos < u.size:
		return 0, errReplay
	case u.err != nil:
		return 0, u.err
	}
	n, err := u.src.Read(p)
	u.keep(p[:n])
	v.pos += int64(n)
	if err != nil {
		u.end(err)
	}
	return n, err
}

// Close leaves the source open: another attempt may go on reading it, and the
// server closes it in the end.
func (v *view) Close() error { return nil }

func (u *upload) keep(p []byte) {
	if room := u.limit - len(u.kept); room > 0 && u.size == int64(len(u.kept)) {
		u.kept = append(u.kept, p[:min(len(p), room)]...)
	}
	u.size += int64(len(p))
}

func (u *upload) end(err error) {
	u.err = err
	if err == io.EOF && u.atEnd != nil {
		u.atEnd(u.kept)
		u.atEnd = nil
	}
}

// release lets go of the kept bytes once the body has been read and no attempt
// can need them any more.
func (u *upload) release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err != nil {
		u.kept = nil
	}
}

// beginning is what was kept of a body that never came to its end, nil for one
// that did.
func (u *upload) beginning() []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err != nil {
		return nil
	}
	return u.kept
}

// ended says whether the body has been read to its end.
func (u *upload) ended() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.src == nil || u.err != nil
}

// stop ends all reading of the source. A read may still wait for the client:
// interrupt must end it. The server would not bear one after the handler.
func (u *upload) stop(interrupt func()) {
	if !u.mu.TryLock() {
		interrupt()
		u.mu.Lock()
	}
	defer u.mu.Unlock()
	if u.err == nil {
		u.err = errEnded
	}
}

// bytes is how many bytes the client has sent so far.
func (u *upload) bytes() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.size
}

func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}
