package doctor

import (
	"fmt"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// unbuffered is what lets a stream through.
var unbuffered = []string{
	"in nginx: proxy_buffering off; and a long proxy_read_timeout",
	"in a gateway: switch off fake or pseudo streaming and response filters, or take a route without them",
}

// checkStreaming says whether output comes as it is made.
func checkStreaming(c *Case) *Finding {
	r := c.asked()
	switch {
	case !r.answered() && r.cut == nil:
		return unchecked("there is no answer to look at")
	case !r.isStream():
		return change("a stream was asked for, and the answer came as one body", unbuffered...)
	case r.cut != nil:
		return change("the stream broke off after "+figure.Duration(r.x.End)+": "+lastOf(r.cut), "look for a time or size limit between here and the upstream")
	}
	switch r.x.Delivery {
	case exchange.Streamed:
		return ok(fmt.Sprintf("output comes as it is made: first token after %s, %s", figure.Duration(r.x.FirstToken), pace(&r.x)))
	case exchange.Pseudo:
		return change("the output is made first and sent at once at the end: a stream in form alone", unbuffered...)
	case exchange.Bursty:
		return change(fmt.Sprintf("something collects the output and sends it in lumps, one every %s", figure.Duration(r.x.DeliveryPeriod)), unbuffered...)
	case exchange.Single:
		return unchecked("the answer was too short to tell")
	}
	return unchecked("no output came: all of the answer's room went into reasoning that is not shown", "try --model with one that reasons less")
}

// pace is the rate of a short answer, which is rough.
func pace(x *exchange.Exchange) string {
	if x.TokensPerSec == nil {
		return "too short to tell a rate"
	}
	return "about " + figure.Rate(x.TokensPerSec, "")
}

// checkUsage says whether the upstream tells its token counts.
func checkUsage(c *Case) *Finding {
	r := c.asked()
	if !r.answered() || r.cut != nil {
		return unchecked("there is no whole answer to look at")
	}
	u := r.answer.Usage
	switch {
	case u.Prompt == nil || u.Output == nil:
		return change("tokens are not reported: there will be no rates, and no prefill cost", c.countless()...)
	case u.Cached == nil:
		return ok("tokens are reported; cached tokens are not", "what a cache hit spares cannot be told here: a missing count is not a miss")
	}
	return ok("tokens and cached tokens are reported")
}

func (c *Case) countless() []string {
	if c.wire == exchange.Chat {
		return []string{"switch usage in streams on at the gateway, or take an upstream that obeys stream_options"}
	}
	return []string{"take an upstream, or a gateway setting, that passes usage in response.completed on"}
}

// checkStreamOptions says whether a chat client can ask for usage.
func checkStreamOptions(c *Case) *Finding {
	r := c.at(chatAsk)
	switch {
	case !r.came() || !r.speaks():
		return nil // it does not speak chat
	case c.at(chatPlainAsk).came():
		return c.forChat("stream_options are refused, so a chat client must not send them", "leave ttftap serve --inject-usage off; count with the upstream's console")
	case !r.answered():
		return unchecked("chat was not answered")
	case r.answer.Usage.Prompt == nil:
		return c.forChat("stream_options are taken, and no usage comes of it", "count with the upstream's console")
	}
	return ok("chat streams tell their usage when asked", "for clients that do not ask: ttftap serve --inject-usage")
}

// forChat is something that is amiss for clients of chat alone.
func (c *Case) forChat(words string, advice ...string) *Finding {
	if c.wire == exchange.Chat {
		return change(words, advice...)
	}
	return ok(words+"; clients of responses need none", advice...)
}
