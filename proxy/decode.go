package proxy

import (
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// maxWindow caps the memory of a zstd window: a client or a server may ask for
// much more.
const maxWindow = 8 << 20

func isIdentity(coding string) bool {
	return coding == "" || strings.EqualFold(coding, "identity")
}

// newDecoder undoes a content coding as the bytes come, one flushed block at a
// time.
func newDecoder(coding string, src io.Reader) (io.ReadCloser, error) {
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "gzip", "x-gzip":
		return gzip.NewReader(src)
	case "deflate":
		return zlib.NewReader(src)
	case "br":
		return io.NopCloser(brotli.NewReader(src)), nil
	case "zstd":
		d, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return nil, fmt.Errorf("the content coding %q is not read", clip(coding))
}

// inflater decodes a copy of a compressed body beside the stream: the decoders
// pull, and must not hold up what goes to the client. What it decodes carries
// the instant of the read that brought the compressed bytes.
type inflater struct {
	log  *slog.Logger
	done chan struct{}

	mu     sync.Mutex
	more   sync.Cond
	queue  []piece
	queued int
	ended  bool
	lost   bool          // nobody reads on
	outrun bool          // more came than could be decoded in time
	at     time.Duration // of the piece being decoded
}

type piece struct {
	at     time.Duration
	packed []byte
}

// backlog is how much compressed data may wait for the decoder. A stream that
// outruns it is not observed any further.
const backlog = 4 << 20

// maxInflated is how much is read of one answer: a few bytes may stand for
// gigabytes.
const maxInflated = 256 << 20

func newInflater(coding string, log *slog.Logger, read func(at time.Duration, p []byte) (more bool), note func(string)) *inflater {
	in := &inflater{log: log, done: make(chan struct{})}
	in.more.L = &in.mu
	go in.run(coding, read, note)
	return in
}

// run decodes until the end, or until a byte that it cannot make sense of.
func (in *inflater) run(coding string, read func(time.Duration, []byte) bool, note func(string)) {
	defer close(in.done)
	why := guarded(in.log, func() string {
		dec, err := newDecoder(coding, in)
		if err != nil {
			return "answer not read: " + err.Error()
		}
		defer dec.Close()
		buf := make([]byte, bufferSize)
		for size := 0; ; {
			n, err := dec.Read(buf)
			size += n
			switch {
			case n > 0 && !read(in.at, buf[:n]), err == io.EOF:
				return ""
			case size > maxInflated:
				return "answer read in part: it is too long"
			case err != nil:
				return fmt.Sprintf("answer read in part: %s: %s", coding, err)
			}
		}
	})
	in.mu.Lock()
	in.lost, in.queue = true, nil // nobody reads on
	in.mu.Unlock()
	note(why)
}

// write hands over a copy of p and never waits.
func (in *inflater) write(at time.Duration, p []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.queued+len(p) > backlog {
		in.lost, in.outrun = true, true
	}
	if in.lost {
		return
	}
	in.queue = append(in.queue, piece{at, append([]byte(nil), p...)})
	in.queued += len(p)
	in.more.Signal()
}

// finish waits until all that was written has been decoded.
// It says whether there was more than that.
func (in *inflater) finish() (outrun bool) {
	in.mu.Lock()
	in.ended = true
	in.more.Signal()
	in.mu.Unlock()
	<-in.done
	return in.outrun
}

// Read gives the decoder the next compressed bytes.
func (in *inflater) Read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.queue) == 0 {
		if in.ended {
			return 0, io.EOF
		}
		in.more.Wait()
	}
	first := &in.queue[0]
	in.at = first.at
	n := copy(p, first.packed)
	in.queued -= n
	if first.packed = first.packed[n:]; len(first.packed) == 0 {
		in.queue = in.queue[1:]
	}
	return n, nil
}
