package dialect

import (
	"slices"

	"github.com/ttftap/ttftap/proxy/exchange"
)

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

// Sections cuts the prompt of a request body, which may be any bytes, into its
// sections, in the order in which a model reads them, whatever their order in
// the JSON: the head, which is the model, the tools, a schema for the answer and
// the instructions, then the items or messages of the conversation. What is
// added at the end of a conversation leaves every section before it as it was.
//
// A section is the text itself where it can be: clients wrap the same message in
// one way now and in another the next time. Of a body that is no whole JSON
// object there is none, nor is there an empty one.
func Sections(d exchange.Dialect, body []byte) (head, items []Section) {
	c := cutter{scanner: scanner{data: body}}
	var lists [conversation + 1][]Section
	c.object(func(key []byte, _ int) {
		f, ok := promptFields[d][string(key)]
		if !ok {
			c.value()
			return
		}
		c.list = lists[f.rank]
		f.cut(&c, f.part)
		lists[f.rank] = c.list
	})
	if c.broken || c.peek() != 0 {
		return nil, nil
	}
	return slices.Concat(lists[:conversation]...), lists[conversation]
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
