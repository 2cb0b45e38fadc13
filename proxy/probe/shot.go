package probe

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

// shot is one request and what came of it.
type shot struct {
	experiment string // id
	step       int
	arm        experiment.Arm
	wire       string
	body       []byte
	words      int
	worst      int64 // tokens that it costs at most

	sent      int           // times
	limited   int           // of them, by 429
	impatient time.Duration // that another try would have to wait, beyond all patience; 0 within it
	status    int           // of the last answer; 0 where there was none
	complaint string
	failure   error    // of the connection
	row       *Row     // of the last answer; nil where the log has none
	seen      []string // rows of answers before
}

func (s *shot) answered() bool {
	if s.row == nil {
		return s.status == http.StatusOK && s.failure == nil
	}
	return s.row.answered()
}

// refused says whether another request would fare no better.
func (s *shot) refused() bool {
	return slices.Contains([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, s.status)
}

// impatience says how long there would have been to wait.
func (s *shot) impatience() error { return fmt.Errorf("%w: %v more", ErrPatience, s.impatient) }

func (s *shot) refusal() *Refusal {
	r := &Refusal{Model: s.arm.Model, Upstream: s.arm.Upstream, Status: int64(s.status)}
	switch {
	case s.row != nil && s.row.Error != "" && s.status > 0:
		r.Words = strconv.Itoa(s.status) + ", " + s.row.Error
	case s.row != nil && s.row.Error != "":
		r.Words = s.row.Error
	case s.failure != nil:
		r.Words = s.failure.Error()
	default:
		r.Words = strconv.Itoa(s.status) + " " + http.StatusText(s.status)
	}
	return r
}

// fire sends a request, again and again while the upstream says that it is too
// early.
func (r *Runner) fire(ctx context.Context, s *shot) {
	left := r.Patience
	for backoff := time.Second; ; backoff *= 2 {
		after := r.send(ctx, s)
		if s.status != http.StatusTooManyRequests {
			return
		}
		s.limited++
		wait := cmp.Or(after, backoff)
		if wait > left {
			s.impatient = wait
			return
		}
		left -= wait
		if sleep(ctx, wait) != nil {
			return
		}
	}
}

// send sends a request once, reads its answer to the end and what the log says of
// it. after is what a refusal asks to wait; 0 where it does not.
func (r *Runner) send(ctx context.Context, s *shot) (after time.Duration) {
	s.status, s.complaint, s.failure, s.row = 0, "", nil, nil
	limit := ctx
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		limit, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	s.sent++
	res, err := r.Instance.Client.Do(r.request(limit, s))
	if err != nil {
		s.failure = err
	} else {
		s.status = res.StatusCode
		after = retryAfter(res.Header.Get("Retry-After"))
		s.complaint, s.failure = drain(res)
	}
	if s.failure != nil && ctx.Err() == nil && limit.Err() != nil {
		s.failure = fmt.Errorf("not whole after %v, the --timeout", r.Timeout)
	}
	s.row = r.await(ctx, s)
	return after
}

func (r *Runner) request(ctx context.Context, s *shot) *http.Request {
	path := route(s.arm.Upstream) + "/responses"
	if s.wire == Chat {
		path = route(s.arm.Upstream) + "/chat/completions"
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Instance.Base+path, bytes.NewReader(s.body))
	if err != nil {
		panic(err) // the instance's address was good for its health
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "text/event-stream")
	q.Header.Set("User-Agent", experiment.Tag(r.Version, s.experiment, s.step))
	authorize(q, r.Keys[s.arm.Upstream])
	return q
}

// drain reads an answer to its end, and what it complains of if it does.
func drain(res *http.Response) (message string, err error) {
	defer res.Body.Close()
	if res.StatusCode < http.StatusBadRequest {
		_, err = io.Copy(io.Discard, res.Body)
		return "", err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	return complaint(raw), err
}

// await waits for the log to have the row of an answer that has just ended.
func (r *Runner) await(ctx context.Context, s *shot) *Row {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rowPatience)
	defer cancel()
	for {
		row, err := r.Instance.row(ctx, s)
		if err != nil {
			return nil
		}
		if row != nil && !slices.Contains(s.seen, row.ID) {
			s.seen = append(s.seen, row.ID)
			return row
		}
		if sleep(ctx, rowPause) != nil {
			return nil
		}
	}
}

// retryAfter is what the header says, in seconds or as a time; 0 where it says
// nothing.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(time.Until(at), time.Millisecond)
	}
	return 0
}
