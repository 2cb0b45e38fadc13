package store

import (
	"slices"
	"strings"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// A column ties a name, the same in SQLite, CSV and JSON, to a field of one
// exchange.
type column struct {
	name string
	field
}

// columns lists what is kept of x, once for every use: the table, CSV and JSON.
// The first ones, csvColumns, are the CSV's in its order.
func columns(x *exchange.Exchange) []column {
	return append(csvColumns(x), moreColumns(x)...)
}

func csvColumns(x *exchange.Exchange) []column {
	return slices.Concat(identityColumns(x), tokenColumns(x), instantColumns(x), figureColumns(x), verdictColumns(x))
}

func identityColumns(x *exchange.Exchange) []column {
	return []column{
		{"id", text[string]{&x.ID}},
		{"started_at", clock{&x.StartedAt}},
		{"ended_at", ended{x}},
		{"upstream", text[string]{&x.Upstream}},
		{"key_id", text[string]{&x.KeyID}},
		{"client", text[string]{&x.Client}},
		{"session_id", text[string]{&x.SessionID}},
		{"turn_id", text[string]{&x.TurnID}},
		{"request_kind", text[string]{&x.RequestKind}},
		{"experiment", text[string]{&x.Experiment}},
		{"method", text[string]{&x.Method}},
		{"path", text[string]{&x.Path}},
		{"dialect", text[exchange.Dialect]{&x.Dialect}},
		{"transport", text[string]{&x.Transport}},
		{"streamed", boolean{&x.Streamed}},
		{"model_requested", text[string]{&x.ModelRequested}},
		{"model_served", text[string]{&x.ModelServed}},
		{"status", integer{&x.Status}},
		{"outcome", text[exchange.Outcome]{&x.Outcome}},
		{"error", text[string]{&x.Error}},
		{"finish_reason", text[string]{&x.FinishReason}},
		{"request_id", text[string]{&x.RequestID}},
		{"response_id", text[string]{&x.ResponseID}},
		{"gateway_request_id", text[string]{&x.GatewayRequestID}},
		{"retry_group", text[string]{&x.RetryGroup}},
		{"attempt", integer{&x.Attempt}},
	}
}

func tokenColumns(x *exchange.Exchange) []column {
	return []column{
		{"prompt_tokens", integer{&x.PromptTokens}},
		{"cached_tokens", integer{&x.CachedTokens}},
		{"cache_write_tokens", integer{&x.CacheWriteTokens}},
		{"uncached_tokens", integer{&x.UncachedTokens}},
		{"output_tokens", integer{&x.OutputTokens}},
		{"reasoning_tokens", integer{&x.ReasoningTokens}},
		{"total_tokens", integer{&x.TotalTokens}},
		{"usage_source", text[string]{&x.UsageSource}},
		{"reasoning", text[string]{&x.Reasoning}},
	}
}

func instantColumns(x *exchange.Exchange) []column {
	return []column{
		{"conn_reused", boolean{&x.ConnReused}},
		{"dns_ms", ms{&x.DNS}},
		{"connect_ms", ms{&x.Connect}},
		{"tls_ms", ms{&x.TLS}},
		{"upload_ms", ms{&x.Upload}},
		{"rtt_ms", ms{&x.RTT}},
		{"headers_ms", ms{&x.Headers}},
		{"first_byte_ms", ms{&x.FirstByte}},
		{"first_event_ms", ms{&x.FirstEvent}},
		{"generation_started_ms", ms{&x.GenerationStarted}},
		{"first_token_ms", ms{&x.FirstToken}},
		{"first_reasoning_ms", ms{&x.FirstReasoning}},
		{"first_text_ms", ms{&x.FirstText}},
		{"first_tool_ms", ms{&x.FirstTool}},
		{"answer_start_ms", ms{&x.AnswerStart}},
		{"last_token_ms", ms{&x.LastToken}},
		{"terminal_ms", ms{&x.Terminal}},
		{"total_ms", ms{&x.End}},
	}
}

func figureColumns(x *exchange.Exchange) []column {
	return []column{
		{"network_ms", ms{&x.Network}},
		{"wait_ms", ms{&x.Wait}},
		{"queue_ms", ms{&x.Queue}},
		{"prefill_ms", ms{&x.Prefill}},
		{"decode_ms", ms{&x.Decode}},
		{"hidden_decode_ms", ms{&x.HiddenDecode}},
		{"unseen_decode_ms", ms{&x.UnseenDecode}},
		{"hosted_tool_ms", ms{&x.HostedTool}},
		{"client_wait_ms", ms{&x.ClientWait}},
		{"proxy_ms", ms{&x.Proxy}},
		{"excess_ms", ms{&x.Excess}},
		{"tpot_ms", ms{&x.TPOT}},
		{"tokens_per_sec", real{&x.TokensPerSec}},
		{"rate_quality", text[string]{&x.RateQuality}},
		{"rate_last_over_first", real{&x.RateLastOverFirst}},
		{"end_to_end_tokens_per_sec", real{&x.EndToEndTokensPerSec}},
		{"prefill_tokens_per_sec", real{&x.PrefillTokensPerSec}},
	}
}

func verdictColumns(x *exchange.Exchange) []column {
	return []column{
		{"output_events", integer{&x.OutputEvents}},
		{"tokens_per_event", real{&x.TokensPerEvent}},
		{"max_gap_ms", ms{&x.MaxGap}},
		{"stalls", integer{&x.Stalls}},
		{"stall_ms", ms{&x.StallTime}},
		{"delivery", text[exchange.Delivery]{&x.Delivery}},
		{"server_queue_ms", ms{&x.ServerQueue}},
		{"server_prefill_ms", ms{&x.ServerPrefill}},
		{"server_decode_ms", ms{&x.ServerDecode}},
		{"server_source", text[string]{&x.ServerSource}},
		{"prefix_shared_tokens", integer{&x.PrefixSharedTokens}},
		{"cache_outcome", text[string]{&x.CacheOutcome}},
		{"concurrency", integer{&x.Concurrency}},
		{"idle_before_ms", ms{&x.IdleBefore}},
		{"request_bytes", integer{&x.RequestBytes}},
		{"response_bytes", integer{&x.ResponseBytes}},
		{"upstream_clock_offset_ms", ms{&x.UpstreamClockOffset}},
		{"bound", text[exchange.Bound]{&x.Bound}},
		{"cause", text[string]{&x.Cause}},
		{"reason", text[string]{&x.Reason}},
		{"rules_version", integer{&x.RulesVersion}},
	}
}

// moreColumns are kept, and shown by the JSON API, but are not in the CSV.
func moreColumns(x *exchange.Exchange) []column {
	return []column{
		{"service_tier", text[string]{&x.ServiceTier}},
		{"note", text[string]{&x.Note}},
		{"unread_events", integer{&x.UnreadEvents}},
		{"usage_raw", text[string]{&x.UsageRaw}},
		{"received_ms", ms{&x.Received}},
		{"got_conn_ms", ms{&x.GotConn}},
		{"sent_ms", ms{&x.Sent}},
		{"upload_lower_bound", boolean{&x.UploadLowerBound}},
		{"hosted_before_first_ms", ms{&x.HostedBeforeFirst}},
		{"hosted_before_answer_ms", ms{&x.HostedBeforeAnswer}},
		{"delivery_period_ms", ms{&x.DeliveryPeriod}},
		{"delivery_bytes", integer{&x.DeliveryBytes}},
		{"choices", integer{&x.Choices}},
		{"floor_ms", ms{&x.Floor}},
		{"model_idle_ms", ms{&x.ModelIdle}},
		{"usual_rows", integer{&x.UsualRows}},
		{"usual_tokens", integer{&x.UsualTokens}},
		{"usual_tpot_ms", ms{&x.UsualTPOT}},
		{"usual_prefill_ms", ms{&x.UsualPrefill}},
		{"cached_wait_ms", ms{&x.CachedWait}},
		{"estimate_error_ms", ms{&x.EstimateError}},
		{"prefix_counted", boolean{&x.PrefixCounted}},
		{"prefix_idle_ms", ms{&x.PrefixIdle}},
		{"changed_section", text[string]{&x.ChangedSection}},
		{"changed_index", integer{&x.ChangedIndex}},
		{"cadence", cadence{&x.Cadence}},
		{"pool_wait_ms", ms{&x.PoolWait}},
		{"seen_delivery", text[exchange.Delivery]{&x.SeenDelivery}},
		{"seen_tpot_ms", ms{&x.SeenTPOT}},
		{"seen_tokens_per_sec", real{&x.SeenTokensPerSec}},
		{"seen_rate_quality", text[string]{&x.SeenRateQuality}},
		{"seen_rate_last_over_first", real{&x.SeenRateLastOverFirst}},
		{"estimated_output_tokens", integer{&x.EstimatedOutput}},
		{"experiment_step", integer{&x.Step}},
	}
}

// storedColumns are the columns of the table: all but the derived ones.
func storedColumns(x *exchange.Exchange) []column {
	return slices.DeleteFunc(columns(x), func(c column) bool { return c.sqlType() == "" })
}

// The statements that follow from the columns alone.
var (
	csvNames    = names(csvColumns(new(exchange.Exchange)))
	columnNames = names(storedColumns(new(exchange.Exchange)))
	selectAll   = "SELECT " + strings.Join(columnNames, ", ")
)

func names(cols []column) []string {
	var all []string
	for _, c := range cols {
		all = append(all, c.name)
	}
	return all
}

// Columns are the names of the CSV's columns, in its order.
func Columns() []string { return slices.Clone(csvNames) }

// Texts are columns of x as the CSV has them, unquoted; "" is nil, and for a name
// that is no column's.
func Texts(x *exchange.Exchange, names []string) []string {
	texts := make([]string, len(names))
	if len(names) == 0 {
		return texts
	}
	for _, c := range csvColumns(x) {
		if i := slices.Index(names, c.name); i >= 0 {
			texts[i] = string(c.append(nil))
		}
	}
	return texts
}
