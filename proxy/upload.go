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
	bodies    *bodies           // where what is kept comes from, and goes back to
	limit     int               // bytes to keep
	announced int               // bytes that the client said would come; 0 where it did not
	atEnd     func(kept []byte) // called once, when the body has been read to its end

	turn sync.Mutex // held by who reads the source, which may wait for the client
	src  io.Reader

	mu      sync.Mutex // guards what follows; nobody waits with it
	kept    []byte
	size    int64
	err     error // how the source ended
	stopped bool
	lent    bool // to who is given it at the end, until that one has read it
	spent   bool // no attempt needs it any more
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
	u.turn.Lock()
	defer u.turn.Unlock()
	if n, err := u.before(v.pos, p); n > 0 || err != nil {
		v.pos += int64(n)
		return n, err
	}
	n, err := u.src.Read(p)
	v.pos += int64(n)
	if kept := u.took(p[:n], err); err == io.EOF && u.atEnd != nil {
		u.atEnd(kept)
		u.atEnd = nil
	}
	return n, err
}

// Close leaves the source open: another attempt may go on reading it, and the
// server closes it in the end.
func (v *view) Close() error { return nil }

// before gives what was read of the source before, from a position on. Neither
// bytes nor an error: the source is to be read.
func (u *upload) before(pos int64, p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.stopped:
		return 0, errEnded
	case pos < int64(len(u.kept)):
		return copy(p, u.kept[pos:]), nil
	case pos < u.size:
		return 0, errReplay
	}
	return 0, u.err
}

// took notes what was read of the source and returns what is kept of all.
func (u *upload) took(p []byte, err error) []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.kept == nil && len(p) > 0 {
		u.kept = u.bodies.get(min(u.announced, u.limit, trusted))
	}
	if room := u.limit - len(u.kept); room > 0 && u.size == int64(len(u.kept)) {
		u.kept = append(u.kept, p[:min(len(p), room)]...)
	}
	u.size += int64(len(p))
	u.err = err
	return u.kept
}

// release lets go of the kept bytes once the body has been read and no attempt
// can need them any more.
func (u *upload) release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch u.err {
	case nil:
	case io.EOF:
		u.spent = true
		u.giveBack()
	default:
		u.kept = nil
	}
}

// returned takes the kept bytes back from who was given them at the end.
func (u *upload) returned() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lent = false
	u.giveBack()
}

// giveBack hands the kept bytes on when they have been both sent and read.
func (u *upload) giveBack() {
	if u.spent && !u.lent {
		u.bodies.put(u.kept)
		u.kept = nil
	}
}

// whole waits for the end of the body and returns all of it: nil where it broke
// off, or is longer than what is kept.
func (u *upload) whole() []byte {
	_, _ = io.Copy(io.Discard, io.LimitReader(u.open(), int64(u.limit)))
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err != io.EOF {
		return nil
	}
	return u.kept
}

// beginning is what was kept of a body that never came to its end, nil for one
// that did.
func (u *upload) beginning() []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err == io.EOF {
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

// broken says whether the client's sending ended before its end.
func (u *upload) broken() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err != nil && u.err != io.EOF
}

// stop ends all reading of the source. A read may still wait for the client:
// interrupt must end it. The server would not bear one after the handler.
func (u *upload) stop(interrupt func()) {
	u.mu.Lock()
	u.stopped = true
	u.mu.Unlock()
	if !u.turn.TryLock() {
		interrupt()
		u.turn.Lock()
	}
	u.turn.Unlock()
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
