package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

const chatBody = `{"model":"mine","temperature":0.5,"stream":false,"max_tokens":9999,"user":"me","tools":[{"type":"function","function":{"name":"look"}}],
"messages":[{"role":"system","content":"Rules of the house."},
{"role":"user","content":"First?"},{"role":"assistant","content":"One."},
{"role":"user","content":"Second?"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c","content":"Seen."},{"role":"assistant","content":"Two."},
{"role":"user","content":[{"type":"text","text":"Third?"}]}]}`

const responsesBody = `{"model":"mine","instructions":"Rules of the house.","previous_response_id":"r1","input":[
{"role":"user","content":"First?"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One."}]},
{"role":"user","content":"Second?"},{"type":"function_call","call_id":"c","name":"look","arguments":"{}"},
{"type":"function_call_output","call_id":"c","output":"Seen."},{"role":"user","content":"Third?"}]}`

// bodies are the requests of a history of a file, by their arms.
func bodies(t *testing.T, raw string) map[string]string {
	t.Helper()
	b, err := ReadBody([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	s := full()
	s.Body, s.Wire = b, b.Wire
	made := plannedAs(t, s, experiment.History)
	sent := make(map[string]string)
	for i := range made.Steps[:3] {
		sent[made.arm(i).Name] = string(manner{}.body(b.Wire, made.arm(i), made.ask(i, size{})))
	}
	return sent
}

// texts is what a body says, each item in its own line.
func texts(body, items string) string {
	var lines []string
	for _, item := range gjson.Get(body, items).Array() {
		said := item.Get("content").String()
		for _, part := range []string{"content.0.text", "output", "name", "tool_calls.0.function.name"} {
			if v := item.Get(part).String(); v != "" {
				said = v
			}
		}
		lines = append(lines, item.Get("role").String()+": "+said)
	}
	return strings.Join(lines, "\n")
}

// masked hides what is drawn by a seed.
func masked(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if before, after, ok := strings.Cut(line, "Note "); ok {
			_, after, _ = strings.Cut(after, ":")
			line = before + "NONCE" + after
		}
		if before, _, ok := strings.Cut(line, summaryHead); ok {
			line = before + "SUMMARY"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestAConversationOfTheUsersIsAbridgedTurnByTurn(t *testing.T) {
	last := "\nuser: Second?\nassistant: look\ntool: Seen.\nassistant: Two.\nuser: Third?"
	sent := bodies(t, chatBody)
	for arm, want := range map[string]string{
		"full":       "system: NONCE Rules of the house.\nuser: First?\nassistant: One." + last,
		"summarised": "system: NONCE Rules of the house.\nuser: SUMMARY" + last,
		"bare":       "system: NONCE " + plainSystem + "\nuser: SUMMARY" + last,
	} {
		if diff := cmp.Diff(want, masked(texts(sent[arm], "messages"))); diff != "" {
			t.Errorf("%s: %s", arm, diff)
		}
	}
	last = "\nuser: Second?\n: look\n: Seen.\nuser: Third?"
	sent = bodies(t, responsesBody)
	for arm, want := range map[string]string{
		"full":       "user: First?\nassistant: One." + last,
		"summarised": "user: SUMMARY" + last,
		"bare":       "system: NONCE " + plainSystem + "\nuser: SUMMARY" + last,
	} {
		if diff := cmp.Diff(want, masked(texts(sent[arm], "input"))); diff != "" {
			t.Errorf("%s: %s", arm, diff)
		}
		rules := masked(gjson.Get(sent[arm], "instructions").String())
		if want := map[bool]string{true: "", false: "NONCE Rules of the house."}[arm == "bare"]; rules != want {
			t.Errorf("%s: instructions %q", arm, rules)
		}
	}
}

func TestOfTheUsersRequestOnlyTheConversationIsTaken(t *testing.T) {
	for _, body := range bodies(t, chatBody) {
		for field, want := range map[string]string{
			"model": "a", "stream": "true", "max_tokens": "16", "stream_options.include_usage": "true", "user": "", "temperature": "0.5", "tools.0.function.name": "look",
		} {
			if got := gjson.Get(body, field).String(); got != want {
				t.Errorf("%s is %q", field, got)
			}
		}
	}
	for _, body := range bodies(t, responsesBody) {
		for field, want := range map[string]string{"previous_response_id": "", "store": "false", "max_output_tokens": "16", "stream": "true"} {
			if got := gjson.Get(body, field).String(); got != want {
				t.Errorf("%s is %q", field, got)
			}
		}
	}
}

func TestWhatIsNoConversationIsRefused(t *testing.T) {
	for raw, reason := range map[string]string{
		`hello`: "no JSON object", `[]`: "no JSON object", `{"model":"m"}`: "neither messages nor input", `{"input":"one text"}`: "no list",
		`{"messages":[{"role":"user","content":"1"},{"role":"user","content":"2"}]}`: "2 of the user's turns",
	} {
		if _, err := ReadBody([]byte(raw)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestTheLengthOfAConversationIsCounted(t *testing.T) {
	long := strings.Replace(chatBody, "First?", strings.Repeat("time ", 1000), 1)
	b, err := ReadBody([]byte(long))
	if err != nil || b.Wire != Chat || b.Model != "mine" {
		t.Fatalf("%+v, %v", b, err)
	}
	if b.tokens < 1000 || b.tokens > 1300 {
		t.Errorf("%d tokens", b.tokens)
	}
	if short := b.abridged(abridgements[1], "brief"); short.tokens > b.tokens-900 {
		t.Errorf("%d tokens of %d are left", short.tokens, b.tokens)
	}
}

func TestABodyThatNoModelTakesIsRefusedAtOnce(t *testing.T) {
	if _, err := ReadBody(make([]byte, BodyMost+1)); err == nil || !strings.Contains(err.Error(), "more than 8 MiB") {
		t.Error(err)
	}
}
