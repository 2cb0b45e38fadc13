package dialect

import "github.com/ttftap/ttftap/proxy/exchange"

// Section is a piece of a prompt and where it stands in the body of a request.
type Section struct {
	Part       exchange.Part
	Start, End int
	mark       extent // a cache mark within, which is no part of the prompt; empty for none
}

// MaxSections bounds the items of a conversation, and each list of its head, in
// sections. What would be further ones is part of the last.
const MaxSections = 16_384

// Text is the bytes of the section, in two pieces where a cache mark stands
// between them. They are the body's own.
func (s Section) Text(body []byte) (head, tail []byte) {
	if s.mark.end == 0 {
		return body[s.Start:s.End], nil
	}
	return body[s.Start:s.mark.start], body[s.mark.end:s.End]
}

// rank is where in a prompt a model reads something.
type rank uint8

const (
	itsName rank = iota
	itsTools
	schema
	instructions
	conversation
)

// promptField is a key of a request whose value is part of the prompt.
type promptField struct {
	rank rank
	part exchange.Part
	cut  func(*cutter, exchange.Part)
}

// field passes over the value of a key and cuts it if it is a part of the prompt.
func (c *cutter) field(f promptField, lists *[conversation + 1][]Section) extent {
	c.peek()
	start := c.at
	if f.cut == nil {
		c.value()
	} else {
		c.list = lists[f.rank]
		f.cut(c, f.part)
		lists[f.rank] = c.list
	}
	return extent{start, c.at}
}

var promptFields = map[exchange.Dialect]map[string]promptField{
	exchange.Responses: {
		"model":        {itsName, exchange.ModelPart, (*cutter).whole},
		"tools":        {itsTools, exchange.ToolsPart, (*cutter).whole},
		"text":         {schema, exchange.OtherPart, (*cutter).format},
		"instructions": {instructions, exchange.InstructionsPart, (*cutter).content},
		"prompt":       {instructions, exchange.InstructionsPart, (*cutter).whole}, // a template that the upstream keeps
		"input":        {conversation, exchange.UserPart, (*cutter).items},
	},
	exchange.Chat: {
		"model":           {itsName, exchange.ModelPart, (*cutter).whole},
		"tools":           {itsTools, exchange.ToolsPart, (*cutter).whole},
		"functions":       {itsTools, exchange.ToolsPart, (*cutter).whole},
		"response_format": {schema, exchange.OtherPart, (*cutter).whole},
		"messages":        {conversation, exchange.UserPart, (*cutter).items},
	},
	exchange.Messages: {
		"model":         {itsName, exchange.ModelPart, (*cutter).whole},
		"tools":         {itsTools, exchange.ToolsPart, (*cutter).whole},
		"output_format": {schema, exchange.OtherPart, (*cutter).whole},
		"system":        {instructions, exchange.InstructionsPart, (*cutter).content},
		"messages":      {conversation, exchange.UserPart, (*cutter).items},
	},
	exchange.Completions: {
		"model":  {itsName, exchange.ModelPart, (*cutter).whole},
		"prompt": {conversation, exchange.UserPart, (*cutter).whole},
		"suffix": {conversation, exchange.UserPart, (*cutter).whole},
	},
	exchange.Ollama: {
		"model":    {itsName, exchange.ModelPart, (*cutter).whole},
		"tools":    {itsTools, exchange.ToolsPart, (*cutter).whole},
		"format":   {schema, exchange.OtherPart, (*cutter).whole},
		"system":   {instructions, exchange.InstructionsPart, (*cutter).whole},
		"context":  {instructions, exchange.OtherPart, (*cutter).whole}, // what was said before, as tokens
		"messages": {conversation, exchange.UserPart, (*cutter).items},
		"prompt":   {conversation, exchange.UserPart, (*cutter).whole},
		"images":   {conversation, exchange.ImagePart, (*cutter).whole},
	},
}
