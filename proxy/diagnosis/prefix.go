package diagnosis

import (
	"sync"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Prefixes remembers the prompts that upstreams have read, by nothing but the
// hashes of their beginnings, to tell what of another prompt could have come
// from a cache. It is safe for concurrent use. The zero value remembers none
// yet.
//
// Each hash covers a whole beginning, so the longest that two prompts share ends
// at the last boundary whose hash is known. It is keyed by upstream and
// credential and begins with the model: prompts of another route share none.
//
// It keeps the latest 65,536 to 131,072 boundaries, and as many in the prompts of
// sessions and in those that a client may go on with: about 15 MB at most.
type Prefixes struct {
	mu       sync.Mutex
	seen     recent[uint64, sight]
	sessions recent[place, session]
	answers  recent[place, []exchange.Boundary]
}

// sight is the last time that a beginning of a prompt was seen.
type sight struct {
	at     time.Time // when the exchange had ended
	tokens int64     // of a whole prompt that ended here, as the upstream counted; 0 unknown
}

// place is an id of one client at one upstream.
type place struct{ upstream, key, id string }

func placeOf(x *exchange.Exchange, id string) place { return place{x.Upstream, x.KeyID, id} }

// Reuse is what an exchange's prompt has in common with earlier ones, in bytes:
// how many tokens that is will be known when the upstream has counted them. Nil
// stands for a prompt that could not be read.
type Reuse struct {
	bytes, total int64 // shared, and of the whole prompt
	known        int64 // bytes of the longest shared beginning whose tokens are known, 0 without one
	tokens       int64 // that many
	idle         *time.Duration
	changed      string
	index        *int64
}

// Match looks for what the prompt of x has in common with those that ended
// before. Ask when the request has been read: what ends meanwhile is no earlier
// one.
func (p *Prefixes) Match(x *exchange.Exchange) *Reuse {
	if len(x.Prompt) == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &Reuse{total: size(x.Prompt)}
	r.changed, r.index = p.session(x).change(x)
	shared, seen := p.longest(x.Prompt)
	if r.bytes = size(shared); r.bytes == 0 {
		return r
	}
	r.idle = new(max(0, x.StartedAt.Sub(seen.at)))
	for n := len(shared); n > 0; n-- {
		if s, _ := p.seen.get(shared[n-1].Hash); s.tokens > 0 {
			r.known, r.tokens = size(shared[:n]), s.tokens
			break
		}
	}
	return r
}

// longest is the longest beginning of a prompt that was seen, and when.
func (p *Prefixes) longest(prompt []exchange.Boundary) ([]exchange.Boundary, sight) {
	for n := len(prompt); n > 0; n-- {
		if s, ok := p.seen.get(prompt[n-1].Hash); ok {
			return prompt[:n], s
		}
	}
	return nil, sight{}
}

// Tell puts into x what is shared, once its tokens are counted.
func (r *Reuse) Tell(x *exchange.Exchange) {
	if r == nil {
		return
	}
	x.PrefixIdle, x.ChangedSection, x.ChangedIndex = r.idle, r.changed, r.index
	x.PrefixSharedTokens, x.PrefixCounted = nil, nil
	prompt := x.PromptTokens
	switch {
	case r.bytes == 0:
		x.PrefixSharedTokens = new(int64(0))
	case prompt == nil || *prompt <= 0:
	case r.bytes == r.total:
		x.PrefixSharedTokens, x.PrefixCounted = prompt, new(true)
	default:
		x.PrefixSharedTokens = new(r.share(*prompt))
		x.PrefixCounted = new(r.bytes == r.known)
	}
}

// share is the tokens of what is shared: those known of its beginning, and of
// the rest of the prompt as many as it has of the bytes.
func (r *Reuse) share(prompt int64) int64 {
	tokens := min(r.tokens, prompt)
	part := float64(r.bytes-r.known) / float64(r.total-r.known)
	return tokens + int64(float64(prompt-tokens)*part+0.5)
}

// Remember takes in the prompt of an exchange that has ended, if the upstream
// has read it. Give it exchanges in the order in which they ended.
func (p *Prefixes) Remember(x *exchange.Exchange) {
	if len(x.Prompt) == 0 || !answered(x) && x.FirstToken == nil {
		return
	}
	at := x.EndedAt()
	if x.End == nil {
		at = x.StartedAt
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, b := range x.Prompt {
		s, _ := p.seen.get(b.Hash)
		if at.After(s.at) {
			s.at = at
		}
		if i == len(x.Prompt)-1 && x.PromptTokens != nil && x.UsageSource == "reported" {
			s.tokens = *x.PromptTokens
		}
		p.seen.put(b.Hash, s, 1)
	}
	if x.ResponseID != "" {
		p.answers.put(placeOf(x, x.ResponseID), x.Prompt, len(x.Prompt))
	}
	if x.SessionID != "" {
		s := p.session(x).with(x)
		p.sessions.put(placeOf(x, x.SessionID), s, s.boundaries())
	}
}

// Answered is the prompt that a response of the same client and upstream
// answered, nil where it is not remembered.
func (p *Prefixes) Answered(x *exchange.Exchange, responseID string) []exchange.Boundary {
	p.mu.Lock()
	defer p.mu.Unlock()
	prompt, _ := p.answers.get(placeOf(x, responseID))
	return prompt
}

func (p *Prefixes) session(x *exchange.Exchange) session {
	if x.SessionID == "" {
		return session{}
	}
	s, _ := p.sessions.get(placeOf(x, x.SessionID))
	return s
}

// size is the bytes of a list of boundaries.
func size(bs []exchange.Boundary) (n int64) {
	for _, b := range bs {
		n += b.Bytes
	}
	return n
}
