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

// serverTimings are the upstream's own, beside what was seen from here.
type serverTimings struct {
	Source string
	Rows   []serverTiming
}

type serverTiming struct {
	Word, Theirs, Ours, Aside string
}

// serverTimingsOf is nil where the upstream told none.
func serverTimingsOf(l language, x *exchange.Exchange) *serverTimings {
	if x.ServerSource == "" {
		return nil
	}
	row := func(name string, theirs, ours *time.Duration) serverTiming {
		return serverTiming{
			Word:   l.say("phase." + name),
			Theirs: millisecondsOr(theirs),
			Ours:   millisecondsOr(ours),
			Aside:  l.say("server." + name),
		}
	}
	return &serverTimings{Source: plain(x.ServerSource, nameRunes), Rows: []serverTiming{
		row("queue", x.ServerQueue, nil),
		row("prefill", x.ServerPrefill, x.Wait),
		row("decode", x.ServerDecode, x.Decode),
	}}
}

// deliveryOf says how the output arrived.
func deliveryOf(l language, x *exchange.Exchange) []string {
	var said []string
	say := func(key string, args ...any) { said = append(said, l.say(key, args...)) }
	switch x.Delivery {
	case "":
	case exchange.Bursty:
		say("delivery.bursty", inWords(or0(x.DeliveryPeriod)), count(x.DeliveryBytes))
	default:
		say("delivery." + string(x.Delivery))
	}
	if x.Stalls != nil && *x.Stalls > 0 {
		say("delivery.stalls", count(x.Stalls), inWords(or0(x.StallTime)))
	}
	if x.MaxGap != nil {
		say("delivery.gap", inWords(*x.MaxGap))
	}
	return said
}
