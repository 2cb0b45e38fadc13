package probe

import (
	"strings"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

// manner is how an upstream wants to be asked.
type manner struct {
	completionTokens bool // the limit has its newer name in Chat
	noUsage          bool // stream_options are not known
	effort           string
}

// concede adapts to what a refusal complains of; ok is false if that is nothing to
// be changed.
func (m manner) concede(message string) (_ manner, ok bool) {
	was := m
	switch {
	case strings.Contains(message, "max_tokens"):
		m.completionTokens = true
	case strings.Contains(message, "stream_options"):
		m.noUsage = true
	}
	return m, m != was
}

// body is a request's.
func (m manner) body(wire string, arm experiment.Arm, p prompt) []byte {
	fields := map[string]any{"model": arm.Model, "stream": true}
	if p.body != nil {
		for name, value := range p.body.fields {
			fields[name] = value
		}
		fields[p.body.name()] = p.body.items
	}
	if wire == Chat {
		m.chat(fields, arm, p)
	} else {
		m.responses(fields, arm, p)
	}
	return encoded(fields)
}

func (m manner) chat(fields map[string]any, arm experiment.Arm, p prompt) {
	if p.body == nil {
		fields["messages"] = p.messages()
	}
	limit := "max_tokens"
	if m.completionTokens {
		limit = "max_completion_tokens"
	}
	fields[limit] = arm.OutputTokens
	if !m.noUsage {
		fields["stream_options"] = map[string]bool{"include_usage": true}
	}
	if m.effort != "" {
		fields["reasoning_effort"] = m.effort
	}
}

func (m manner) responses(fields map[string]any, arm experiment.Arm, p prompt) {
	if p.body == nil {
		fields["input"] = p.messages()
	}
	fields["max_output_tokens"], fields["store"] = arm.OutputTokens, false
	if m.effort != "" {
		fields["reasoning"] = map[string]string{"effort": m.effort}
	}
}

// messages are the prompt in the form that both wire formats know.
func (p prompt) messages() []map[string]string {
	var list []map[string]string
	if p.system != "" {
		list = append(list, map[string]string{"role": "system", "content": p.system})
	}
	for _, t := range p.turns {
		list = append(list, map[string]string{"role": t.role, "content": t.text})
	}
	return list
}
