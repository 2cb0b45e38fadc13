package proxy

import (
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestABodyHasRoomForWhatWasAnnounced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bodies
		size := rapid.IntRange(0, trusted).Draw(t, "size")
		p := b.get(size)
		if len(p) != 0 || cap(p) < size || cap(p) >= 2*max(size, smallest) && cap(p) != smallest {
			t.Fatalf("%d bytes have %d in room for %d", size, len(p), cap(p))
		}
		b.put(append(p, "what was kept"...))
		if again := b.get(size); len(again) != 0 || cap(again) != cap(p) {
			t.Fatalf("what was given back has %d bytes in room for %d", len(again), cap(again))
		}
	})
}

// Whichever comes first, the other one still needs the bytes.
func TestABodyIsKeptUntilItHasBeenSentAndRead(t *testing.T) {
	for name, order := range map[string][2]func(*upload){
		"sent first": {(*upload).release, (*upload).returned},
		"read first": {(*upload).returned, (*upload).release},
	} {
		t.Run(name, func(t *testing.T) {
			u := &upload{bodies: new(bodies), limit: readable, lent: true, src: strings.NewReader("a body")}
			if _, err := io.Copy(io.Discard, u.open()); err != nil {
				t.Fatal(err)
			}
			order[0](u)
			if got := string(u.kept); got != "a body" {
				t.Errorf("kept %q when one of two needs it", got)
			}
			order[1](u)
			if u.kept != nil {
				t.Errorf("kept %q when nobody needs it", u.kept)
			}
		})
	}
}

func TestABodyThatBrokeOffIsNotKeptForAnotherAttempt(t *testing.T) {
	u := &upload{bodies: new(bodies), limit: readable, lent: true, src: io.MultiReader(strings.NewReader("half"), brokenReader{})}
	_, _ = io.Copy(io.Discard, u.open())
	if u.release(); u.kept != nil {
		t.Errorf("kept %q", u.kept)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
