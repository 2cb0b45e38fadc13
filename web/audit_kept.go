package web

import (
	"strings"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
	"github.com/ttftap/ttftap/store/audit"
)

// consoleRow is what a console has of an exchange, beside the log's own.
type consoleRow struct {
	Class  string
	Counts []consoleCount
	Money  string
	Under  string // where it was read, and when it was kept
}

type consoleCount struct {
	Word string
	pairOf
}

func (s *site) consoleRowOf(l language, x *exchange.Exchange, kept *store.ConsoleRow) *consoleRow {
	if kept == nil {
		return nil
	}
	row := &consoleRow{
		Class: audit.Class(kept.Class).Words().In(string(l)),
		Money: strings.TrimSpace(kept.Amount + " " + kept.Currency),
		Under: l.say("console.under", kept.Place, kept.KeptAt.In(s.Now().Location()).Format("2006-01-02 15:04")),
	}
	for _, n := range []struct {
		name        string
		here, there *int64
	}{
		{"prompt", x.PromptTokens, kept.Input}, {"cached", x.CachedTokens, kept.Cached}, {"cache_write", x.CacheWriteTokens, kept.CacheWrite},
		{"output", x.OutputTokens, kept.Output}, {"reasoning", x.ReasoningTokens, kept.Reasoning},
	} {
		if n.here != nil || n.there != nil {
			row.Counts = append(row.Counts, consoleCount{l.say("fact." + n.name), besides(n.here, n.there)})
		}
	}
	return row
}
