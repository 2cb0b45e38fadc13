package proxy_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// describe tells all that matters of an exchange that was judged wrongly.
func (s scored) describe() string {
	var p parts
	if s.truth != nil {
		p = s.parts()
	}
	return fmt.Sprintf("%s by %s, got %s/%s\n\ttruth: network %s floor %s queue %s load %s prefill %s decode %s (hidden %s) stall %s; %s\n\trow: %s\n\tknobs: %s",
		s.theme, s.api, s.Bound, s.Cause, tenths(p.network), tenths(p.floor), tenths(p.queue), tenths(p.load), tenths(p.prefill),
		tenths(p.decode), tenths(p.hidden), tenths(p.stall), s.evidence(), figures(&s.Exchange), knobs(s.how))
}

func (s scored) evidence() string {
	e := fmt.Sprintf("warm %v longest %d tls %v slots %d", s.site.warm, s.site.longest, s.site.tls, s.site.profile.Slots)
	if s.truth != nil {
		e += fmt.Sprintf(" tokens %d cached %d out %d reasoning %d", s.truth.PromptTokens, s.truth.CachedTokens, s.truth.OutputTokens, s.truth.ReasoningTokens)
	}
	return e
}

func figures(x *exchange.Exchange) string {
	var words []string
	for _, f := range []struct {
		name string
		d    *time.Duration
	}{
		{"headers", x.Headers}, {"first_token", x.FirstToken}, {"answer", x.AnswerStart}, {"last", x.LastToken}, {"end", x.End},
		{"network", x.Network}, {"wait", x.Wait}, {"queue", x.Queue}, {"prefill", x.Prefill}, {"floor", x.Floor}, {"usual_prefill", x.UsualPrefill},
		{"hidden", x.HiddenDecode}, {"unseen", x.UnseenDecode}, {"stall", x.StallTime}, {"tpot", x.TPOT}, {"usual_tpot", x.UsualTPOT},
		{"server_queue", x.ServerQueue}, {"server_prefill", x.ServerPrefill}, {"server_decode", x.ServerDecode}, {"model_idle", x.ModelIdle},
	} {
		if f.d != nil {
			words = append(words, fmt.Sprintf("%s %s", f.name, tenths(*f.d)))
		}
	}
	for _, f := range []struct {
		name string
		n    *int64
	}{{"prompt", x.PromptTokens}, {"cached", x.CachedTokens}, {"out", x.OutputTokens}, {"thoughts", x.ReasoningTokens}, {"shared", x.PrefixSharedTokens}, {"with", x.Concurrency}} {
		if f.n != nil {
			words = append(words, fmt.Sprintf("%s %d", f.name, *f.n))
		}
	}
	return strings.Join(append(words, string(x.Delivery), x.Reasoning, x.RateQuality, x.CacheOutcome, string(x.Outcome)), " ")
}

func tenths(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// knobs words a behaviour for the simulator's header.
func knobs(how simulator.Behaviour) string {
	words := []string{
		fmt.Sprintf("floor=%s,prefill=%dns,growth=%g,tpot=%dns,jitter=%g,crowding=%g,chunk=%d,output=%d",
			how.Floor, how.Prefill, how.PrefillGrowth, how.TPOT, how.Jitter, how.Crowding, how.Chunk, how.Output),
		fmt.Sprintf("tools=%d,call=%d,stall=%s,ping=%s", how.ToolRounds, how.ToolTokens, how.Stall, how.Ping),
	}
	for word, on := range map[string]bool{"whole": how.Whole, "uncached": how.Uncached, "progress": how.Progress, "pseudo": how.Pseudo} {
		if on {
			words = append(words, word)
		}
	}
	for key, value := range map[string]string{
		"headers": string(how.Headers), "mishap": string(how.Mishap), "timings": string(how.Timings), "usage": string(how.Usage),
		"cached": string(how.Cached), "thoughts": string(how.Thoughts), "reasoning": thinking(how), "hop": hop(how), "status": status(how), "at": point(how),
	} {
		if value != "" {
			words = append(words, key+"="+value)
		}
	}
	return strings.Join(words, ",")
}

func thinking(how simulator.Behaviour) string {
	if how.Reasoning == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", how.Reasoning, how.ReasoningTokens)
}

func hop(how simulator.Behaviour) string {
	switch {
	case how.HopBytes > 0:
		return fmt.Sprint(how.HopBytes)
	case how.HopTime > 0:
		return how.HopTime.String()
	}
	return ""
}

func status(how simulator.Behaviour) string {
	if how.Status == 0 {
		return ""
	}
	return fmt.Sprint(how.Status)
}

func point(how simulator.Behaviour) string {
	if how.At == nil {
		return ""
	}
	return fmt.Sprint(*how.At)
}
