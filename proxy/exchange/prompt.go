package exchange

// Boundary is the end of a section of a prompt, or of a part of a long one. A
// list of them is all that is kept of a prompt: enough to tell that another
// begins alike and what fills it, and nothing to read it by.
type Boundary struct {
	Part  Part
	Inner bool   // the section goes on behind it
	Bytes int64  // since the boundary before, as they weigh when tokens are shared out; 0 for the model's name
	Hash  uint64 // of the whole prompt so far, keyed by this install's secret
}

// Part is what a section of a prompt holds.
type Part uint8

// The parts of a prompt. They are stored by number: new ones go to the end.
const (
	OtherPart        Part = iota // what is none of the below, such as a schema for the answer
	ModelPart                    // the name of the model, which is no text of the prompt
	ToolsPart                    // tools that may be called
	InstructionsPart             // of the system or the developer
	UserPart
	AssistantPart
	ReasoningPart // reasoning of earlier answers, as it is sent back
	ToolCallPart
	ToolResultPart
	ImagePart
	FilePart
)

var partNames = [...]string{
	"other", "model", "tools", "instructions", "user", "assistant", "reasoning", "tool_call", "tool_result", "image", "file",
}

// Parts lists every part, in the order of their numbers.
func Parts() []Part {
	parts := make([]Part, len(partNames))
	for i := range parts {
		parts[i] = Part(i)
	}
	return parts
}

// String is the name of a part.
func (p Part) String() string {
	if int(p) >= len(partNames) {
		return partNames[OtherPart]
	}
	return partNames[p]
}
