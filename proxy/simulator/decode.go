package simulator

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// How an answer breaks off.
var (
	errCut    = errors.New("connection cut")
	errBroken = errors.New("error event sent")
)

// decode generates the answer.
func (f *flight) decode() error {
	if err := f.reach(AtToken); err != nil {
		return err
	}
	if err := f.begin(); err != nil {
		return err
	}
	f.sampled = f.at
	for _, it := range f.reply.plan.items {
		if err := f.generate(it); err != nil {
			return err
		}
	}
	return f.trouble(0)
}

// generate makes one item, chunk by chunk. What a chunk shows is sent at its
// first token, the others being guessed along with it.
func (f *flight) generate(it *item) error {
	opened := false
	for from := 0; from < len(it.pieces); {
		to := min(from+f.chunk(), len(it.pieces))
		if it.kind != thought {
			if err := f.trouble(to - from); err != nil {
				return err
			}
		}
		text := strings.Join(it.pieces[from:to], "")
		if err := f.say(it, text, &opened); err != nil {
			return err
		}
		if err := f.sample(it, to-from); err != nil {
			return err
		}
		from = to
	}
	if opened {
		return f.wire.send(f.voice.close(it))
	}
	return nil
}

// say sends what has become visible. An item is opened by its first text, a
// thought by its first token.
func (f *flight) say(it *item, text string, opened *bool) error {
	if !f.wire.opened {
		return nil
	}
	var words []byte
	if !*opened && (text != "" || it.kind == thought) {
		words, *opened = f.voice.open(it), true
	}
	if text != "" {
		words = append(words, f.voice.piece(it, text)...)
	}
	return f.wire.send(words)
}

// sample spends the time of n tokens.
func (f *flight) sample(it *item, n int) error {
	phases := []*time.Duration{&f.truth.Decode}
	if it.kind == thought && it.shown != Visible {
		phases = append(phases, &f.truth.Hidden)
	}
	for range n {
		f.truth.OutputTokens++
		if it.kind == thought {
			f.truth.ReasoningTokens++
			f.truth.Reasoning = it.shown
		} else {
			f.answered++
		}
		f.truth.Span = f.at.Sub(f.sampled)
		beat := f.beat()
		if err := f.spend(beat, phases...); err != nil {
			return err
		}
		if err := f.share(beat, phases); err != nil {
			return err
		}
	}
	return nil
}

// share lets the others at work take their part of a beat.
func (f *flight) share(beat time.Duration, phases []*time.Duration) error {
	others := f.model.slots.busy() - 1
	if f.how.Crowding == 0 || others == 0 {
		return nil
	}
	extra := time.Duration(f.how.Crowding * float64(others) * float64(beat))
	return f.spend(extra, append(phases, &f.truth.Crowd)...)
}

// beat is the time of one token.
func (f *flight) beat() time.Duration {
	if f.how.Jitter == 0 {
		return f.how.TPOT
	}
	return time.Duration(float64(f.how.TPOT) * (1 + f.how.Jitter*(2*f.luck.Float64()-1)))
}

// chunk is how many tokens come at once.
func (f *flight) chunk() int {
	if f.how.Chunk < 2 {
		return 1
	}
	return 1 + f.luck.IntN(f.how.Chunk)
}

// trouble is the stall and the mishap. It comes before the chunk of n tokens in
// which its point lies, or after the last one.
func (f *flight) trouble(n int) error {
	point := f.reply.plan.answerTokens() / 2
	if f.how.At != nil {
		point = *f.how.At
	}
	if f.troubled || f.answered+max(n-1, 0) < point {
		return nil
	}
	f.troubled = true
	if err := f.spend(f.how.Stall, &f.truth.Stall); err != nil {
		return err
	}
	switch f.how.Mishap {
	case Cut:
		return errCut
	case ErrorEvent:
		return f.breakOff()
	}
	return nil
}

// breakOff is an error event in a stream, a refusal otherwise.
func (f *flight) breakOff() error {
	broken := &fault{status: http.StatusInternalServerError, message: "the model stopped working"}
	if !f.wire.opened {
		return broken
	}
	return errors.Join(errBroken, f.wire.send(f.voice.fail(broken)), f.wire.release())
}
