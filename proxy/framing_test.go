package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const wholeChat = chatRole + chatText + chatText + chatFinish + chatUsage + chatDone

func TestALineOfAnyLengthIsRead(t *testing.T) {
	output := func(n int) string {
		return `"output":[{"type":"message","content":[{"type":"output_text","text":"` + strings.Repeat("a", n) + `"}]}],`
	}
	name, rest, _ := strings.Cut(respEnd("completed", output(0), respUsage), "\n")
	bare := len(strings.TrimRight(rest, "\n"))
	for _, length := range []int{65_535, 65_536, 65_537, 1<<20 + 1, 3 << 20} {
		end := respEnd("completed", output(length-bare), respUsage)
		if line := strings.TrimSpace(strings.TrimPrefix(end, name)); len(line) != length {
			t.Fatalf("a line of %d bytes, not %d", len(line), length)
		}
		x := passed(t, respPath, eventStream, respCreated+respText+end)
		if number(x.PromptTokens) != 12 || number(x.OutputTokens) != 5 || x.Outcome != exchange.OK || number(x.UnreadEvents) > 0 {
			t.Errorf("%d bytes: %+v, outcome %s, %d unread, note %q", length, countsOf(x), x.Outcome, number(x.UnreadEvents), x.Note)
		}
	}
}

func TestHoweverAStreamIsFramedItsRowIsTheSame(t *testing.T) {
	crlf := strings.NewReplacer("\n", "\r\n")
	tight := strings.NewReplacer("data: ", "data:")
	for name, answer := range map[string]string{
		"CRLF":       crlf.Replace(wholeChat),
		"no blank":   tight.Replace(wholeChat),
		"both":       crlf.Replace(tight.Replace(wholeChat)),
		"CR":         strings.ReplaceAll(wholeChat, "\n", "\r"),
		"with names": strings.ReplaceAll(wholeChat, "data: ", "event: message\nid: 7\ndata: "),
		"two lines":  strings.ReplaceAll(wholeChat, `,"choices"`, ",\ndata: \"choices\""),
		"a BOM":      "\ufeff" + wholeChat,
	} {
		x := passed(t, chatPath, eventStream, answer)
		if countsOf(x) != asTold || x.Outcome != exchange.OK || number(x.OutputEvents) != 2 || x.FirstToken == nil || number(x.UnreadEvents) > 0 {
			t.Errorf("%s: %+v, outcome %s, %d events of output", name, countsOf(x), x.Outcome, number(x.OutputEvents))
		}
	}
}

// A read may end within a character, and within a name of a model that is kept.
func TestCharactersThatComeByteByByteStayWhole(t *testing.T) {
	answer := strings.NewReplacer("Hello", "北京😀", `"model":"m"`, `"model":"通义千问"`).Replace(wholeChat)
	byByte := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", eventStream)
		for i := range len(answer) {
			io.WriteString(w, answer[i:i+1])
			w.(http.Flusher).Flush()
		}
	})
	w := onSockets(t, "/v1", byByte)
	got, x := w.exchange(chatPath, `{"model":"通义","stream":true}`)
	if got != answer || x.ModelServed != "通义千问" || x.ModelRequested != "通义" {
		t.Errorf("models %q, %q; bytes equal: %v", x.ModelRequested, x.ModelServed, got == answer)
	}
	if countsOf(x) != asTold || number(x.OutputEvents) != 2 || x.Outcome != exchange.OK {
		t.Errorf("%+v, %d events of output, outcome %s", countsOf(x), number(x.OutputEvents), x.Outcome)
	}
	if row := fmt.Sprintf("%+v", x); strings.Contains(row, "�") {
		t.Errorf("a character was broken: %s", row)
	}
}

// arrivals are what a client reads of an answer, and when.
func arrivals(start time.Time, body io.Reader) (got []string) {
	p := make([]byte, 64<<10)
	for {
		n, err := body.Read(p)
		if n > 0 {
			got = append(got, fmt.Sprint(time.Since(start), " ", string(p[:n])))
		}
		if err != nil {
			return got
		}
	}
}

func TestKeepAliveCommentsAreNoTokens(t *testing.T) {
	const comment, second = ": PROCESSING\n\n", time.Second
	rest := chatText + chatFinish + chatUsage + chatDone
	upstream := script(eventStream, step{second / 10, comment}, step{second, comment}, step{second, comment}, step{9 * second / 10, rest})
	inBubble(t, upstream, func(t *testing.T, w *world) {
		start := time.Now()
		got := arrivals(start, w.post(chatPath, chatAsked).Body)
		want := []string{"100ms " + comment, "1.1s " + comment, "2.1s " + comment, "3s " + rest}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		x := w.row()
		if ms(x.FirstByte) != 100 || ms(x.FirstEvent) != 3000 || ms(x.FirstToken) != 3000 || countsOf(x) != asTold || number(x.UnreadEvents) > 0 {
			t.Errorf("first byte %v, event %v, token %v; %+v, %d unread", ms(x.FirstByte), ms(x.FirstEvent), ms(x.FirstToken), countsOf(x), number(x.UnreadEvents))
		}
	})
}

func TestAnErrorInsideAStreamIsAFailureWithoutNumbers(t *testing.T) {
	x := passed(t, chatPath, eventStream, `data: {"error":{"message":"engine died","code":500}}`+"\n\n"+chatDone)
	if number(x.Status) != 200 || x.Outcome != exchange.ErrorEvent || countsOf(x) != untold || x.FirstToken != nil || x.TokensPerSec != nil {
		t.Errorf("status %d, outcome %s, %+v, first token %v", number(x.Status), x.Outcome, countsOf(x), x.FirstToken)
	}
	if !strings.Contains(x.Error, "engine died") {
		t.Errorf("error %q", x.Error)
	}
}

// What was asked for does not decide how an answer is read.
func TestAnAnswerInOnePieceIsNoStreamThoughOneWasAskedFor(t *testing.T) {
	body := `{"id":"c1","choices":[{"message":{"content":"Hi"}}],"usage":` + twelveAndFive + `}`
	x := passed(t, chatPath, "application/json", body)
	if countsOf(x) != asTold || *x.Streamed || x.Transport != "http" || x.Delivery != exchange.NotStreamed {
		t.Errorf("%+v, streamed %v, transport %s, delivery %s", countsOf(x), *x.Streamed, x.Transport, x.Delivery)
	}
	if x.FirstToken != nil || x.TokensPerSec != nil || x.TPOT != nil {
		t.Errorf("first token %v, rate %v", x.FirstToken, x.TokensPerSec)
	}
}
