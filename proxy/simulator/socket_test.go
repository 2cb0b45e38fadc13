package simulator

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/websocket"
)

// line is a client's end of a socket.
type line struct {
	t     *testing.T
	conn  io.ReadWriteCloser
	start time.Time
	shut  bool // a close frame came
}

// socket opens one. Simulate is the value of the override header.
func (b *bench) socket(simulate string) *line {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://simulator/v1/responses", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for key, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAA", OverrideHeader: simulate} {
		r.Header.Set(key, v)
	}
	res, err := b.client.Do(r)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols || res.Header.Get("Sec-WebSocket-Accept") != websocket.Accept("AAAA") {
		b.t.Fatal(res, err)
	}
	return &line{t: b.t, conn: res.Body.(io.ReadWriteCloser), start: time.Now()}
}

func (l *line) say(op websocket.Opcode, text string) {
	l.t.Helper()
	if _, err := l.conn.Write(websocket.AppendMasked(nil, op, [4]byte{1, 2, 3, 4}, []byte(text))); err != nil {
		l.t.Fatal(err)
	}
}

// create asks for a response, with more keys.
func (l *line) create(more string) {
	l.t.Helper()
	l.say(websocket.Text, `{"type":"response.create","model":"m",`+more+`}`)
}

// hear reads up to an event whose type ends so, or the end.
func (l *line) hear(last string) (events []message) {
	var reader websocket.Reader
	p := make([]byte, 16<<10)
	for {
		n, err := l.conn.Read(p)
		at := time.Since(l.start)
		reader.Write(time.Now(), p[:n], func(m websocket.Message) {
			switch m.Opcode {
			case websocket.Text:
				data := string(m.Data)
				events = append(events, message{at: at, name: gjson.Get(data, "type").String(), data: data})
			case websocket.Close:
				l.shut = true
			default:
				events = append(events, message{at: at, comment: fmt.Sprint(m.Opcode)})
			}
		})
		if err != nil || len(events) > 0 && strings.HasSuffix(events[len(events)-1].name, last) || l.shut {
			return events
		}
	}
}

func TestAResponseOverASocketTellsAndTakesWhatItDoesOverHTTP(t *testing.T) {
	how := Behaviour{Floor: 100 * time.Millisecond, Prefill: time.Millisecond, TPOT: 20 * time.Millisecond, Output: 50}
	inBubble(t, one(how), func(b *bench) {
		over := b.post("/v1/responses", object{"model": "m", "input": []object{{"role": "user", "content": "hello there"}}, "stream": true}, "")
		l := b.socket("")
		defer l.conn.Close()
		l.create(`"input":[{"role":"user","content":"hello there"}]`)
		events := l.hear("completed")
		if len(events) != len(over.messages) {
			t.Fatalf("%d events, over HTTP %d", len(events), len(over.messages))
		}
		for i, e := range events {
			if same := over.messages[i]; e.name != same.name || e.at != same.at {
				t.Errorf("event %d: %s at %s, over HTTP %s at %s", i, e.name, e.at, same.name, same.at)
			}
		}
		synctest.Wait()
		http, socket := b.truths[0], b.truths[1]
		if http.OutputTokens != socket.OutputTokens || http.Decode != socket.Decode || socket.Outcome != exchange.OK || !socket.Streamed {
			t.Errorf("%+v\nover HTTP\n%+v", socket, http)
		}
	})
}

func TestAConversationGoesOnOverItsSocketAlone(t *testing.T) {
	inBubble(t, one(Behaviour{Output: 5, ToolRounds: 1, ToolTokens: 8, Prefill: time.Millisecond}), func(b *bench) {
		l := b.socket("")
		defer l.conn.Close()
		const tools = `"tools":[{"type":"function","name":"exec_command"}],`
		long := strings.Repeat("tell me more. ", 400)
		l.create(tools + `"generate":false,"input":"` + long + `"`)
		warm := l.hear("completed")
		l.create(tools + `"previous_response_id":"` + warm[0].get("response.id").String() + `","input":"and then?"`)
		first := l.hear("completed")
		done := first[len(first)-1]
		if done.get("response.output.0.type").String() != "function_call" {
			t.Errorf("the first answer is %s", done.data)
		}
		l.create(tools + `"previous_response_id":"` + done.get("response.id").String() + `","input":[{"type":"function_call_output","call_id":"c","output":"hello"}]`)
		second := l.hear("completed")
		if last := second[len(second)-1]; last.get("response.output.0.type").String() != "message" {
			t.Errorf("the second answer is %s", last.data)
		}
		synctest.Wait()
		warmed, turn, after := b.truths[0], b.truths[1], b.truths[2]
		if warmed.OutputTokens != 0 || warmed.Outcome != exchange.OK || turn.CachedTokens < 1024 || after.PromptTokens <= turn.PromptTokens || after.CachedTokens < turn.CachedTokens {
			t.Errorf("prewarm %+v\nturn %+v\nafter it %+v", warmed, turn, after)
		}
		l.create(`"previous_response_id":"resp_other","input":"and then?"`)
		if e := l.hear("error")[0]; e.get("status").Int() != 400 || e.get("error.code").String() != "previous_response_not_found" {
			t.Errorf("what is unknown is answered %s", e.data)
		}
	})
}

func TestRefusalsAndMishapsOfASocket(t *testing.T) {
	inBubble(t, one(plain), func(b *bench) {
		l := b.socket("")
		defer l.conn.Close()
		l.create(`"input":"x","client_metadata":{"` + OverrideHeader + `":"status=429, retry_after=2s"}`)
		if e := l.hear("error")[0]; e.get("status").Int() != 429 || e.get("error.code").String() != "rate_limit_exceeded" || e.get("headers.retry-after").String() != "2" {
			t.Errorf("refused with %s", e.data)
		}
		l.create(`"input":"x","client_metadata":{"` + OverrideHeader + `":"mishap=error"}`)
		if events := l.hear("failed"); events[len(events)-1].name != "response.failed" {
			t.Errorf("broken off with %v", events)
		}
		l.create(`"input":"x","client_metadata":{"` + OverrideHeader + `":"mishap=cut"}`)
		if events := l.hear("completed"); len(events) == 0 || events[len(events)-1].name == "response.completed" {
			t.Errorf("cut after %v", events)
		}
		synctest.Wait()
		if got := b.truths[len(b.truths)-1].Outcome; got != exchange.UpstreamCut {
			t.Errorf("the truth is %s", got)
		}
	})
}

func TestASocketIsKeptAliveAndClosed(t *testing.T) {
	inBubble(t, one(Behaviour{Output: 2, Floor: 3 * time.Second, Headers: AtAccept, Ping: time.Second}), func(b *bench) {
		l := b.socket("")
		l.create(`"input":"x"`)
		l.say(websocket.Ping, "p")
		events := l.hear("completed")
		pings := 0
		for _, e := range events {
			if e.comment != "" {
				pings++
			}
		}
		if pings < 3 { // a pong, and a ping a second
			t.Errorf("%d control frames came", pings)
		}
		l.say(websocket.Close, "\x03\xe8")
		if l.hear("none"); !l.shut {
			t.Error("the closing was not answered")
		}
		if n, err := io.Copy(io.Discard, l.conn); n > 0 || err != nil && err != io.ErrUnexpectedEOF {
			t.Errorf("it went on: %d bytes, %v", n, err)
		}
	})
}

func TestAClientThatLeavesItsSocketEndsTheFlight(t *testing.T) {
	inBubble(t, one(Behaviour{Output: 50, TPOT: time.Second}), func(b *bench) {
		l := b.socket("")
		l.create(`"input":"x"`)
		time.Sleep(5500 * time.Millisecond)
		l.conn.Close()
		time.Sleep(time.Millisecond)
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.truths) != 1 || b.truths[0].Outcome != exchange.ClientAbort || b.truths[0].Total > 6*time.Second {
			t.Errorf("%+v", b.truths)
		}
	})
}
