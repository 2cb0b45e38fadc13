package probe

import "strings"

// prompt is what one request says.
type prompt struct {
	system string // "" for none
	turns  []turn
	words  int   // in all of them
	body   *Body // said instead; nil for the above
}

// turn is what one side says in a conversation.
type turn struct{ role, text string }

const (
	user      = "user"
	assistant = "assistant"
)

// said is a prompt of one turn.
func (s Setup) said(head, text, request string) prompt {
	return prompt{turns: []turn{{user, head + " " + text + request}}, words: strings.Count(text, " ") + 1}
}

// fresh are prompts of which nothing was sent before: each has a nonce of its own
// at its beginning.
func (s Setup) fresh(t *Trial) func(int, size) prompt {
	return func(step int, z size) prompt {
		arm := t.arm(step)
		request := shortRequest
		if arm.OutputTokens > shortAnswer {
			request = longRequest
		}
		r := luck(s.Seed, t.Kind, step)
		return s.said(nonce(r), passage(r, z.words(arm.PromptTokens)), request)
	}
}
