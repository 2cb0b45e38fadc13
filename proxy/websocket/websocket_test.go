package websocket_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/websocket"
)

func TestWhatIsWordedIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(1<<16-2, 1<<16+2)).Draw(t, "size")
		op := rapid.SampledFrom([]websocket.Opcode{websocket.Text, websocket.Binary, websocket.Close, websocket.Pong}).Draw(t, "opcode")
		mask := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "mask"))
		payload := strings.Repeat("a", size)
		b := websocket.Append([]byte("before")[6:], op, []byte(payload))
		b = websocket.AppendMasked(b, op, mask, []byte(payload))
		got, err := read(new(websocket.Reader), b)
		want := said{op, payload, false, int64(size), noon}
		if err != nil || len(got) != 2 || got[0] != want || got[1] != want {
			t.Errorf("%d messages, %v", len(got), err)
		}
	})
}

func TestAClientsKeyIsAnsweredAsTheStandardSays(t *testing.T) {
	if got := websocket.Accept("dGhlIHNhbXBsZSBub25jZQ=="); got != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Error(got)
	}
}

func TestACloseFrameIsTakenApart(t *testing.T) {
	for payload, want := range map[string]struct {
		code   int
		reason string
	}{
		"":                 {1005, ""},
		"\x03":             {1005, ""},
		"\x03\xe8":         {1000, ""},
		"\x03\xf0no entry": {1008, "no entry"},
	} {
		if code, reason := websocket.Closing([]byte(payload)); code != want.code || reason != want.reason {
			t.Errorf("%q: %d %q", payload, code, reason)
		}
	}
}

func TestControlFramesAreKnownByTheirOpcode(t *testing.T) {
	for op := range websocket.Opcode(16) {
		if op.IsControl() != (op >= 8) {
			t.Errorf("%x: %v", op, op.IsControl())
		}
	}
}
