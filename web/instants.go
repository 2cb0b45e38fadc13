package web

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// instant is one of an exchange's, with what it means.
type instant struct {
	Word    string
	At      string // milliseconds from the start
	Meaning string
}

func instantsOf(l language, x *exchange.Exchange) []instant {
	var all []instant
	add := func(name string, at *time.Duration) {
		if at == nil && x.End == nil {
			return // it may have happened all the same
		}
		all = append(all, instant{
			Word:    l.say("instant." + name),
			At:      millisecondsOr(at),
			Meaning: l.say("instant." + name + ".meaning"),
		})
	}
	add("received", x.Received)
	add("got_conn", x.GotConn)
	add("sent", x.Sent)
	add("headers", x.Headers)
	add("first_byte", x.FirstByte)
	add("first_event", x.FirstEvent)
	add("generation_started", x.GenerationStarted)
	add("first_token", x.FirstToken)
	add("first_reasoning", x.FirstReasoning)
	add("answer_start", x.AnswerStart)
	add("first_text", x.FirstText)
	add("first_tool", x.FirstTool)
	add("last_token", x.LastToken)
	add("terminal", x.Terminal)
	add("end", x.End)
	return all
}

// serverTimings are the upstream's own, beside what can be seen from here.
type serverTimings struct {
	Source string
	Rows   []serverTiming
}

// serverTiming is a row of them. Ours is a dash where that part of the time
// cannot be seen by itself.
type serverTiming struct {
	Word, Theirs, Ours, Aside string
}

// serverTimingsOf is nil where the upstream told none.
func serverTimingsOf(l language, x *exchange.Exchange) *serverTimings {
	if x.ServerSource == "" {
		return nil
	}
	row := func(word string, theirs, ours *time.Duration, aside string) serverTiming {
		return serverTiming{l.say(word), millisecondsOr(theirs), millisecondsOr(ours), l.say(aside)}
	}
	queued, filled, decoded := x.ServerQueue, x.ServerPrefill, x.ServerDecode
	t := serverTimings{Source: plain(x.ServerSource, nameRunes), Rows: []serverTiming{
		row("phase.queue", queued, nil, "server.part"),
		row("phase.prefill", filled, nil, "server.part"),
	}}
	if x.Delivery == exchange.Streamed && !x.HidesReasoning() {
		counted := sum(queued, filled)
		t.Rows = append(t.Rows, row("server.wait", counted, x.Wait, "server.wait.seen"))
		if counted != nil && x.Wait != nil && *x.Wait > *counted {
			t.Rows = append(t.Rows, row("server.rest", nil, new(*x.Wait-*counted), "server.rest.seen"))
		}
		t.Rows = append(t.Rows, row("phase.decode", decoded, x.Decode, "server.decode.seen"))
		return &t
	}
	t.Rows = append(t.Rows,
		row("phase.decode", decoded, nil, "server.mingled"),
		row("server.all", sum(queued, filled, decoded), allButNetwork(x), "server.all.seen"))
	return &t
}

// sum is nil where a part is unknown.
func sum(parts ...*time.Duration) *time.Duration {
	var all time.Duration
	for _, p := range parts {
		if p == nil {
			return nil
		}
		all += *p
	}
	return &all
}

// allButNetwork is the time to the last output, the network and hosted tools
// left out; nil where it is unknown.
func allButNetwork(x *exchange.Exchange) *time.Duration {
	last := x.LastToken
	if x.Delivery == exchange.NotStreamed {
		last = x.End
	}
	if last == nil || x.Network == nil {
		return nil
	}
	return new(*last - *x.Network - or0(x.HostedTool))
}
