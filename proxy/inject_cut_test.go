package proxy

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// style is how a server writes its stream.
type style struct {
	comma, colon string // between members, between a name and its value
	end          string // of a line
	field        string // before the data
}

func anyStyle(t *rapid.T) style {
	s := rapid.SampledFrom([]style{{",", ":", "", ""}, {", ", ": ", "", ""}, {",\t", " :  ", "", ""}}).Draw(t, "style")
	s.end = rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
	s.field = rapid.SampledFrom([]string{"data: ", "data:", "event: chunk" + s.end + "id: 7" + s.end + "data:\t"}).Draw(t, "field")
	return s
}

// object is a JSON object with members, as names and values in turn.
func (s style) object(members ...string) string {
	var b strings.Builder
	for i := 0; i < len(members); i += 2 {
		if i > 0 {
			b.WriteString(s.comma)
		}
		b.WriteString(`"` + members[i] + `"` + s.colon + members[i+1])
	}
	return "{" + b.String() + "}"
}

func (s style) event(data string) string { return s.field + data + s.end + s.end }

// text is a content that looks like what is taken out, but is none of it.
var text = rapid.OneOf(
	rapid.SampledFrom([]string{`"Hi"`, `""`, `"\\"`, `"\",\"usage\":null"`, `"\"choices\":[],\"usage\":{"`, `null`, `{"usage":null}`, `[{"usage":null},{"usage":{}}]`}),
	rapid.Map(rapid.IntRange(0, 40_000), func(n int) string { return `"` + strings.Repeat("a", n) + `"` }),
)

// members are those of a chunk that stays, with the places where a null usage is
// put when usage was asked for.
func members(t *rapid.T, s style) (asked, unasked []string) {
	choices := rapid.SampledFrom([]string{"[]", "[{}]", "[ {} ]", "null", "[[]]"}).Draw(t, "choices")
	if rapid.Bool().Draw(t, "full") {
		choices = "[" + s.object("index", "0", "delta", s.object("content", text.Draw(t, "content")), "usage", "null") + "]"
	}
	unasked = []string{"id", `"c1"`, "choices", choices, "x", text.Draw(t, "x")}
	at := 2 * rapid.IntRange(0, 3).Draw(t, "at")
	asked = append(append(append([]string(nil), unasked[:at]...), "usage", "null"), unasked[at:]...)
	return asked, unasked
}

// anyStream is a stream of a server that was asked for usage, and the same of one
// that was not.
func anyStream(t *rapid.T) (asked, unasked string) {
	s := anyStyle(t)
	for range rapid.IntRange(0, 8).Draw(t, "events") {
		with, without := "", ""
		switch kind := rapid.SampledFrom([]string{"chunk", "usage", "comment", "done", "other"}).Draw(t, "kind"); kind {
		case "chunk":
			a, u := members(t, s)
			with, without = s.event(s.object(a...)), s.event(s.object(u...))
		case "usage":
			with = s.event(s.object("id", `"c1"`, "choices", rapid.SampledFrom([]string{"[]", "[ ]"}).Draw(t, "none"),
				"usage", s.object("prompt_tokens", "12", "details", s.object("usage", "null")), "obfuscation", `"}{"`))
		case "comment":
			with = rapid.SampledFrom([]string{": ping", ":", s.end + ": data: {" + s.end}).Draw(t, "comment") + s.end
			without = with
		case "done":
			with, without = s.event("[DONE]"), s.event("[DONE]")
		case "other": // what has usage and choices stays, and what cannot be read
			with = s.event(rapid.SampledFrom([]string{
				s.object("choices", "[{}]", "usage", "{}"), s.object("usage", "{}"), s.object("choices", "[]"),
				"{", "null", `"usage":null`, `["usage":null,{"usage":null}]`, "{} {\"choices\":[],\"usage\":{}}", "",
			}).Draw(t, "odd"))
			without = with
		}
		asked, unasked = asked+with, unasked+without
	}
	return asked, unasked
}

// pieces writes a stream in pieces of any size.
func pieces(t *rapid.T, stream string) string {
	var x excision
	var out bytes.Buffer
	for stream != "" {
		n := min(len(stream), rapid.OneOf(rapid.IntRange(1, 3), rapid.IntRange(1, 5000)).Draw(t, "piece"))
		out.Write(x.write([]byte(stream[:n])))
		stream = stream[n:]
	}
	out.Write(x.close())
	return out.String()
}

func TestAskedForAndTakenOutTheStreamIsAsIfNobodyHadAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked, unasked := anyStream(t)
		if got := pieces(t, asked); got != unasked {
			t.Fatalf("of\n%q\nis left\n%q, want\n%q", asked, got, unasked)
		}
	})
}

func TestANullIsTakenOutBehindALongEventOfTheSameRead(t *testing.T) {
	long := `data: {"id":"c1","choices":[],"x":"` + strings.Repeat("a", maxHeld) + "\"}\n\n"
	var x excision
	got := string(x.write([]byte(long+`data: {"usage":null,"id":"c1"}`+"\n\n"))) + string(x.close())
	if want := long + `data: {"id":"c1"}` + "\n\n"; got != want {
		t.Errorf("what is left ends in %q", got[len(long):])
	}
}

func TestTakingOutDoesNotDependOnTheCut(t *testing.T) {
	words := rapid.SampledFrom([]string{"data:", " ", "\n", "\r", "\n\n", "{", "}", "[", "]", ",", ":", `"`, `\`, `"usage"`, `"choices"`, "null", "[]", "{}", "x", ": c\n"})
	rapid.Check(t, func(t *rapid.T) {
		stream := strings.Join(rapid.SliceOf(words).Draw(t, "words"), "")
		var x excision
		whole := string(x.write([]byte(stream)))
		whole += string(x.close())
		if got := pieces(t, stream); got != whole {
			t.Fatalf("%q in pieces is %q, in one %q", stream, got, whole)
		}
	})
}

func TestOnlyWhatMayBeUsageIsHeldBack(t *testing.T) {
	for _, c := range []struct{ came, passed string }{
		{": ping", ": ping"},
		{"data: [", "data: ["},
		{"data: {\"id\":\"c\",\"choices\":[{", "data: {\"id\":\"c\",\"choices\":[{"},
		{"data: {\"id\":\"c\",\"choices\":[", ""},
		{"data: {\"choices\":[{}],\"us", "data: {\"choices\":[{}]"},
		{"data: {\"choices\":[{}],\"user", "data: {\"choices\":[{}],\"user"},
		{"data: {\"choices\":[{}],\"usage\" : null", "data: {\"choices\":[{}]"},
		{"data: {\"choices\":[{}],\"usage\":null,", "data: {\"choices\":[{}]"},
		{"data: {\"choices\":[{}],\"usage\":null}", "data: {\"choices\":[{}]}"},
		{"data: {\"choices\":[{}],\"usage\":{", "data: {\"choices\":[{}],\"usage\":{"},
		{"data: {\"choices\":[],\"usage\":{}}\n", ""},
		{"data: {\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n", "data: [DONE]\n\n"},
		{"event: x\ndata: null", "event: x\ndata: null"},
		{"{\"choices\":", "{\"choices\":"},
		{"id:1\nretry: 9\nevent: x\n: ping\n", ""},
		{"{\"done\":false}\n{\"done\":true}\n", "{\"done\":false}\n{\"done\":true}\n"},
	} {
		var x excision
		if got := string(x.write([]byte(c.came))); got != c.passed {
			t.Errorf("of %q passed %q, want %q", c.came, got, c.passed)
		}
	}
}

func TestWhatIsHeldBackIsBounded(t *testing.T) {
	for _, endless := range []string{
		"event: " + strings.Repeat("x", 1<<20),
		`data: {"choices":[],"x":"` + strings.Repeat("x", 1<<20),
		`data: {"choices":[{}],` + strings.Repeat(" ", 1<<20),
		"data: " + strings.Repeat(" ", 1<<20),
		"data: " + strings.Repeat("[", 1<<20),
		"data: {" + strings.Repeat(`"usage":null,`, 1<<16),
	} {
		var x excision
		for i := 0; i < len(endless); i += bufferSize {
			x.write([]byte(endless[i:min(len(endless), i+bufferSize)]))
			if len(x.held) > maxHeld {
				t.Fatalf("%.30q...: %d bytes are held", endless, len(x.held))
			}
		}
	}
}

func BenchmarkExcision(b *testing.B) {
	event := []byte(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}],"usage":null}` + "\n\n")
	b.SetBytes(int64(len(event)))
	var x excision
	for b.Loop() {
		if out := x.write(event); len(out) != len(event)-len(`,"usage":null`) {
			b.Fatalf("%q", out)
		}
	}
}
