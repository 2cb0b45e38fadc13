package probe

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Whatever a word and the frame of a prompt come to, what two prompts have told is
// enough to make one of the length that is meant, and to know the most it can have.
func TestPromptsComeOutAsLongAsMeant(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		word := rapid.Float64Range(0.8, 3).Draw(r, "tokens a word")
		frame := rapid.Float64Range(0, 500).Draw(r, "frame")
		came := func(words int) int64 { return int64(math.Round(frame + word*float64(words))) }
		var z size
		for _, words := range []int{150, rapid.IntRange(600, 4000).Draw(r, "words")} {
			z = z.learn(words, came(words))
		}
		meant := rapid.Int64Range(600, 20_000).Draw(r, "meant")
		words := z.words(meant)
		if off := math.Abs(float64(came(words)-meant)) / float64(meant); off > 0.03 {
			r.Fatalf("%d tokens instead of %d", came(words), meant)
		}
		if came(words) > z.most(words) || z.most(words) > meant*6/5+2*slack {
			r.Fatalf("%d tokens, %d at most", came(words), z.most(words))
		}
	})
}

func TestOneAnswerIsEnoughToBeNear(t *testing.T) {
	for _, word := range []float64{0.9, 1, 1.25, 2} {
		z := size{}.learn(168, int64(20+word*168))
		for _, meant := range []int64{100, 1000, 3000} {
			got := 20 + word*float64(z.words(meant))
			if got < 0.85*float64(meant) || got > 1.15*float64(meant) {
				t.Errorf("a word is %.2f tokens: %.0f instead of %d", word, got, meant)
			}
		}
	}
}

func TestAGuessIsOnTheSafeSide(t *testing.T) {
	for _, words := range []int{1, 100, 3000} {
		if most := (size{}).most(words); float64(most) < 1.4*float64(words)+guessedFrame {
			t.Errorf("%d words are at most %d tokens", words, most)
		}
	}
}

func TestNoAnswerMakesNoSenseOfIt(t *testing.T) {
	for _, z := range []size{
		size{}.learn(100, 1), size{}.learn(100, 90).learn(400, 80), size{}.learn(100, 20_000).learn(110, 20_010), size{}.learn(0, 10),
	} {
		if words := z.words(1000); words < 1 {
			t.Errorf("%+v: %d words", z, words)
		}
		if most := z.most(1000); most < 1 {
			t.Errorf("%+v: %d tokens", z, most)
		}
	}
}
