package proxy

import (
	"encoding/binary"
	"slices"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

const (
	// stretch is where a long section is cut, in bytes: two prompts may share the
	// beginning of one. It is about two of the blocks that caches count in.
	stretch = 1 << 10
	// imageWeight is the most that an image counts for, in bytes of text: about
	// 1,500 tokens, beyond which vendors scale it down, however large its file.
	imageWeight = 6 << 10
)

// readPrompt takes the request's prompt, hashed, and looks for what of it was seen
// before: the session's last exchange, which may have ended a moment ago, included.
func (f *flight) readPrompt(req dialect.Request, body []byte) {
	note := guarded(f.proxy.config.Log, func() string {
		if f.before != nil {
			<-f.before
		}
		prompt := f.proxy.prompt(&f.x, req, body)
		f.locked(func() { f.x.Prompt = prompt })
		f.reuse = f.proxy.config.Prefixes.Match(&f.x)
		return ""
	})
	f.note(note)
}

// prompt makes the boundaries of a request's prompt, nil where the prompt is not
// whole in the body, nor in what is remembered of earlier ones.
func (p *Proxy) prompt(x *exchange.Exchange, req dialect.Request, body []byte) []exchange.Boundary {
	head, items := req.Sections()
	if req.Conversation || len(items) == 0 && req.Continues == "" {
		return nil
	}
	c := p.newChain(x)
	c.links = make([]exchange.Boundary, 0, min(len(body)/stretch+len(head)+len(items)+1, dialect.MaxSections))
	c.add(body, head)
	if req.Continues != "" {
		before := p.config.Prefixes.Answered(x, req.Continues)
		if before == nil {
			return nil
		}
		c.goOn(before, req.Continues)
	}
	c.add(body, items)
	return c.links
}

// chain hashes a prompt section by section: each hash covers the one before, and
// by it the whole beginning. Of the text nothing else is kept.
type chain struct {
	digester *digester
	last     uint64
	links    []exchange.Boundary
	joined   []byte // what stands on both sides of a cache mark
}

// What is hashed that is no part of a prompt.
const (
	routeLabel  byte = 255 - iota // whose caches are not shared with others'
	answerLabel                   // of the model, which is not in the request
	piecesLabel                   // what comes before the last stretch of a text
)

// newChain begins a chain that has nothing in common with those of another
// upstream or key, whose caches are not shared.
func (p *Proxy) newChain(x *exchange.Exchange) *chain {
	c := &chain{digester: p.digester}
	c.hash(routeLabel, []byte(x.Upstream+"\x00"+x.KeyID), nil)
	return c
}

// hash takes in a text of any length.
func (c *chain) hash(label byte, head, tail []byte) {
	for len(head)+len(tail) > stretch {
		var piece []byte
		piece, head, tail = c.stretch(head, tail)
		c.last = c.digester.next(c.last, piecesLabel, piece)
	}
	piece, _, _ := c.stretch(head, tail)
	c.last = c.digester.next(c.last, label, piece)
}

// stretch is the first stretch of a text and what follows it. It is good until the
// next one.
func (c *chain) stretch(head, tail []byte) (piece, headLeft, tailLeft []byte) {
	n := min(len(head), stretch)
	m := min(len(tail), stretch-n)
	switch {
	case m == 0:
		return head[:n], head[n:], tail
	case n == 0:
		return tail[:m], nil, tail[m:]
	}
	c.joined = append(append(c.joined[:0], head...), tail[:m]...)
	return c.joined, nil, tail[m:]
}

// add adds sections of a body.
func (c *chain) add(body []byte, sections []dialect.Section) {
	for _, s := range sections {
		head, tail := s.Text(body)
		for cut := s.Part != exchange.ImagePart; cut && len(head)+len(tail) > stretch; {
			var piece []byte
			piece, head, tail = c.stretch(head, tail)
			c.link(exchange.Boundary{Part: s.Part, Inner: true}, piece, nil)
		}
		c.link(exchange.Boundary{Part: s.Part}, head, tail)
	}
}

// link adds a boundary behind a text. The longest of prompts go on in their last
// one.
func (c *chain) link(b exchange.Boundary, head, tail []byte) {
	c.hash(byte(b.Part), head, tail)
	b.Bytes, b.Hash = weight(b.Part, len(head)+len(tail)), c.last
	c.push(b)
}

func (c *chain) push(b exchange.Boundary) {
	if n := len(c.links); n >= dialect.MaxSections {
		b.Part, b.Bytes = c.links[n-1].Part, c.links[n-1].Bytes+b.Bytes
		c.links = c.links[:n-1]
	}
	c.links = append(c.links, b)
}

// weight is what bytes count for when tokens are shared out by them.
func weight(part exchange.Part, bytes int) int64 {
	switch part {
	case exchange.ModelPart:
		return 0
	case exchange.ImagePart:
		return int64(min(bytes, imageWeight))
	}
	return int64(bytes)
}

// goOn continues the prompt that a response answered. The head is said anew each
// time: if it is another one, all behind it gets other hashes. The answer itself
// is a part of the prompt of which nothing but the response's id is known.
func (c *chain) goOn(before []exchange.Boundary, response string) {
	head := headOf(before, c.links)
	if slices.Equal(before[:head], c.links) {
		c.links = append(c.links, before[head:]...)
		c.last = c.links[len(c.links)-1].Hash
	} else {
		for _, b := range before[head:] {
			c.hash(byte(b.Part), binary.LittleEndian.AppendUint64(nil, b.Hash), nil)
			c.push(exchange.Boundary{Part: b.Part, Inner: b.Inner, Bytes: b.Bytes, Hash: c.last})
		}
	}
	c.hash(answerLabel, []byte(response), nil)
	c.push(exchange.Boundary{Part: exchange.AssistantPart, Hash: c.last})
}

// headOf is how many boundaries of an earlier prompt were its head, of which
// another one is known.
func headOf(before, head []exchange.Boundary) int {
	instructed := slices.ContainsFunc(head, func(b exchange.Boundary) bool { return b.Part == exchange.InstructionsPart })
	n := slices.IndexFunc(before, func(b exchange.Boundary) bool {
		switch b.Part {
		case exchange.ModelPart, exchange.ToolsPart, exchange.OtherPart:
			return false
		case exchange.InstructionsPart:
			return !instructed
		}
		return true
	})
	if n < 0 {
		return len(before)
	}
	return n
}
