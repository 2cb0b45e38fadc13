package main

import (
	"strconv"
	"time"
)

// report is what the log says. Nil is what is not known.
type report struct {
	Headline  string          `json:"headline"`
	Requests  int64           `json:"requests"`
	From      *time.Time      `json:"from"` // start of the first request
	To        *time.Time      `json:"to"`   // end of the last one
	Total     *millis         `json:"total_ms"`
	Models    []modelReport   `json:"models"`
	Verdicts  []verdictReport `json:"verdicts"`
	Baselines []usualReport   `json:"baselines"`
	Queue     queueReport     `json:"queue"`
	Misses    []missReport    `json:"cache_misses"`
	Uncached  uncachedReport  `json:"if_nothing_were_cached"`
	Slowest   []toldReport    `json:"slowest"`
	Coverage  coverageReport  `json:"coverage"`
	Checks    []check         `json:"checks"`
	Caveat    string          `json:"caveat"`
}

// modelReport is one model of one upstream.
type modelReport struct {
	Upstream      string   `json:"upstream"`
	Model         string   `json:"model"`
	Requests      int64    `json:"requests"`
	WaitShare     *float64 `json:"wait_share"`   // of wait and decode, where they can be told
	DecodeShare   *float64 `json:"decode_share"` //
	FirstTokenP50 *millis  `json:"first_token_p50_ms"`
	FirstTokenP95 *millis  `json:"first_token_p95_ms"`
	TokensPerSec  *float64 `json:"tokens_per_sec"` // pooled, noisy rates included
	PromptTokens  *int64   `json:"prompt_tokens"`
	CachedShare   *float64 `json:"cached_share"` // of the prompt tokens of those that tell of the cache
}

// verdictReport is one bound and cause.
type verdictReport struct {
	Words    string  `json:"-"`
	Bound    string  `json:"bound"`
	Cause    string  `json:"cause"`
	Requests int64   `json:"requests"`
	Total    *millis `json:"total_ms"`
	Share    float64 `json:"share"` // of the time of all
}

// usualReport is the baseline of one model.
type usualReport struct {
	Upstream    string         `json:"upstream"`
	Model       string         `json:"model"`
	ServiceTier string         `json:"service_tier"`
	Rows        int            `json:"rows"`
	LeftOut     map[string]int `json:"left_out"`
	Words       string         `json:"words"`
}

// queueReport is about requests whose wait was mostly a queue.
type queueReport struct {
	Spikes int64        `json:"spikes"`
	Known  int64        `json:"known"` // requests whose queue is known at all
	Queue  *millis      `json:"queue_ms"`
	Worst  []toldReport `json:"worst"`
}

// missReport is one way in which a beginning that was sent before was not cached.
type missReport struct {
	Outcome  string  `json:"cache_outcome"`
	Changed  string  `json:"changed_section"`
	Requests int64   `json:"requests"`
	Tokens   *int64  `json:"uncached_tokens"`
	Wait     *millis `json:"wait_ms"`
}

// uncachedReport is what the requests would have cost without any cache.
type uncachedReport struct {
	Requests int64   `json:"requests"` // that had something cached
	Tokens   *int64  `json:"tokens"`   // of prompts, paid for again
	Prefill  *millis `json:"prefill_ms"`
	Reckoned int64   `json:"reckoned"` // requests that Prefill rests on
}

// toldReport is one request with its reason.
type toldReport struct {
	ID          string    `json:"id"`
	At          time.Time `json:"started_at"`
	Model       string    `json:"model"`
	Total       *millis   `json:"total_ms"`
	FirstToken  *millis   `json:"first_token_ms"`
	Queue       *millis   `json:"queue_ms"`
	Concurrency *int64    `json:"concurrency"`
	Verdict     string    `json:"verdict"`
	Reason      string    `json:"reason"`
}

// coverageReport is how many requests each figure rests on.
type coverageReport struct {
	EndedWell   int64 `json:"ended_well"`
	Separable   int64 `json:"separable"`   // whose wait and decode can be told
	FirstTokens int64 `json:"first_token"` // in the percentiles
	Usage       int64 `json:"usage"`
	Cached      int64 `json:"cached"` // that tell of the cache
	Rates       int64 `json:"rates"`
	Noisy       int64 `json:"noisy_rates"`
	Unknown     int64 `json:"unknown"`
	OldRules    int64 `json:"older_rules"`
	Prewarms    int64 `json:"prewarms"` // not among the requests

	Samples int64 `json:"samples_kept"` // of first tokens, at the most for each model
}

// millis is a duration that is written in milliseconds.
type millis time.Duration

// MarshalJSON has the three decimals of the exports.
func (m millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(m)/float64(time.Millisecond), 'f', 3, 64), nil
}
