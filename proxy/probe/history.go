package probe

import (
	"fmt"
	"slices"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

const (
	historyTurns = 10
	keptTurns    = 2 // at the end of a summarised conversation
	plainSystem  = "You are a helpful assistant."
	summaryHead  = "What was said before, in short: "
)

// abridgement is an arm of History: how much of a conversation is sent.
type abridgement struct {
	name       string
	summarised bool // all but the last turns
	bare       bool // the system prompt is a short one
}

var abridgements = []abridgement{{name: "full"}, {name: "summarised", summarised: true}, {name: "bare", summarised: true, bare: true}}

// history is a conversation, then with its older part summed up, then that with a
// short system prompt.
func (s Setup) history() *Trial {
	t := s.trial(experiment.History)
	say := s.conversation
	if s.Body != nil {
		say = s.own
	}
	for _, a := range abridgements {
		t.Arms = append(t.Arms, s.arm(a.name, int64(say(a, 0, size{}).words)+guessedFrame, shortAnswer))
	}
	t.Steps = s.shuffled(t, s.Rounds)
	t.ask = func(step int, z size) prompt { return say(abridgements[t.Steps[step].Arm], step, z) }
	return t
}

// conversation is one that is made up. Of the whole, a tenth is its system prompt,
// the rest turns of which the model says as much as the user, who has the last word.
func (s Setup) conversation(a abridgement, step int, z size) prompt {
	words := z.words(s.Size)
	system, each := words/10, words*9/10/(2*historyTurns-1)
	text := luck(s.Seed, experiment.History, "text")
	long, summary := passage(text, system), passage(text, each)
	var turns []turn
	for i := range historyTurns {
		turns = append(turns,
			turn{user, fmt.Sprintf("Question %d: %s?", i+1, passage(text, each))},
			turn{assistant, fmt.Sprintf("Answer %d: %s.", i+1, passage(text, each))})
	}
	turns = turns[:len(turns)-1]
	turns[len(turns)-1].text += shortRequest
	p := prompt{system: s.unknown(step) + " " + plainSystem}
	if !a.bare {
		p.system, p.words = p.system+" "+long, system
	}
	if a.summarised {
		turns = slices.Clone(turns[len(turns)-2*keptTurns+1:])
		turns[0].text = summaryHead + summary + ".\n\n" + turns[0].text
		p.words += each
	}
	p.turns, p.words = turns, p.words+len(turns)*each
	return p
}

// unknown is a beginning by which no cache knows what follows.
func (s Setup) unknown(step int) string {
	return nonce(luck(s.Seed, experiment.History, step))
}

// own is the user's own conversation.
func (s Setup) own(a abridgement, step int, _ size) prompt {
	b := s.Body.abridged(a, passage(luck(s.Seed, experiment.History, "summary"), s.Body.summaryWords())).headed(s.unknown(step))
	return prompt{body: b, words: b.tokens}
}
