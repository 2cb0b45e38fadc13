package web

import (
	"maps"
	"net/http"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
)

// apiModel is what is usual for one model of one upstream. Null is what is not
// known: the costs of a prompt need exchanges that are enough and differ enough,
// the words say what is missing.
type apiModel struct {
	Upstream    string         `json:"upstream"`
	Model       string         `json:"model"`
	ServiceTier string         `json:"service_tier"`
	Rows        int            `json:"rows"`     // exchanges whose waits can be compared
	LeftOut     map[string]int `json:"left_out"` // the others, by why

	FloorMS          *float64  `json:"floor_ms"`            // fixed start of gateway and model
	Knots            []apiKnot `json:"knots"`               // prefill over uncached tokens, straight from knot to knot
	PerCachedTokenMS *float64  `json:"per_cached_token_ms"` // what a token costs that is cached
	LeastTokens      *int64    `json:"least_uncached_tokens"`
	MostTokens       *int64    `json:"most_uncached_tokens"` // beyond, the costs are less sure
	FastRows         *int      `json:"fast_rows"`            // those that nothing delayed
	Error            *float64  `json:"error_share"`          // of a wait, either way, for nine of ten fast ones

	TPOTMS        *float64 `json:"tpot_ms"`        // median of the rates that are not noisy
	Rates         int      `json:"rates"`          // how many that are
	TokensPerSec  *float64 `json:"tokens_per_sec"` // of all pooled, noisy ones included
	HeadersAtSlot bool     `json:"headers_at_slot"`
	Words         string   `json:"words"` // all of this in the reader's language
}

type apiKnot struct {
	Tokens    int64   `json:"tokens"`
	PrefillMS float64 `json:"prefill_ms"`
}

// apiModels answers with {"models": [...]}: the baselines of this moment, in the
// order of upstream, model and service tier.
func (s *site) apiModels(w http.ResponseWriter, r *http.Request) error {
	list := []apiModel{}
	if s.Models != nil {
		for _, b := range s.Models() {
			list = append(list, newAPIModel(b, languageOf(r)))
		}
	}
	return writeJSON(w, http.StatusOK, map[string]any{"models": list})
}

func newAPIModel(b *diagnosis.Baseline, l language) apiModel {
	m := apiModel{
		Upstream: b.Upstream, Model: b.Model, ServiceTier: b.ServiceTier,
		Rows: b.Rows, LeftOut: map[string]int{},
		TPOTMS: apiMS(b.TPOT), Rates: b.Rates, TokensPerSec: b.TokensPerSec,
		HeadersAtSlot: b.HeadersAtSlot, Words: b.Words(string(l)),
	}
	maps.Copy(m.LeftOut, b.LeftOut)
	if c := b.Curve; c != nil {
		m.FloorMS, m.PerCachedTokenMS = apiMS(&c.Floor), apiMS(c.PerCached)
		m.LeastTokens, m.MostTokens, m.FastRows, m.Error = &c.Least, &c.Most, &c.Fast, &c.Error
		for _, k := range c.Knots {
			m.Knots = append(m.Knots, apiKnot{k.Tokens, *apiMS(&k.Prefill)})
		}
	}
	return m
}

// apiMS is a duration as the API tells it.
func apiMS(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	return new(float64(*d) / float64(time.Millisecond))
}
