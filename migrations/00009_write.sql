-- +goose Up
-- The exchanges under way, apart from those that have ended: each is written in
-- a hurry, before the first byte of its answer, with the little that is known of
-- it, and is gone from here when its one row is written into exchange. The columns
-- are those of exchange; boundaries are its prompt's, as prompt has them.
CREATE TABLE aloft (
    id TEXT PRIMARY KEY, started_at INTEGER NOT NULL, upstream TEXT, key_id TEXT, client TEXT, session_id TEXT,
    turn_id TEXT, request_kind TEXT, experiment TEXT, method TEXT, path TEXT, dialect TEXT, transport TEXT,
    streamed INTEGER, model_requested TEXT, model_served TEXT, status INTEGER, outcome TEXT NOT NULL, error TEXT,
    finish_reason TEXT, request_id TEXT, response_id TEXT, gateway_request_id TEXT, retry_group TEXT, attempt INTEGER,
    prompt_tokens INTEGER, cached_tokens INTEGER, cache_write_tokens INTEGER, uncached_tokens INTEGER,
    output_tokens INTEGER, reasoning_tokens INTEGER, total_tokens INTEGER, usage_source TEXT, reasoning TEXT,
    conn_reused INTEGER, dns_ms REAL, connect_ms REAL, tls_ms REAL, upload_ms REAL, rtt_ms REAL, headers_ms REAL,
    first_byte_ms REAL, first_event_ms REAL, generation_started_ms REAL, first_token_ms REAL, first_reasoning_ms REAL,
    first_text_ms REAL, first_tool_ms REAL, answer_start_ms REAL, last_token_ms REAL, terminal_ms REAL, total_ms REAL,
    network_ms REAL, wait_ms REAL, queue_ms REAL, prefill_ms REAL, decode_ms REAL, hidden_decode_ms REAL,
    unseen_decode_ms REAL, hosted_tool_ms REAL, client_wait_ms REAL, proxy_ms REAL, excess_ms REAL, tpot_ms REAL,
    tokens_per_sec REAL, rate_quality TEXT, rate_last_over_first REAL, end_to_end_tokens_per_sec REAL,
    prefill_tokens_per_sec REAL, output_events INTEGER, tokens_per_event REAL, max_gap_ms REAL, stalls INTEGER,
    stall_ms REAL, delivery TEXT, server_queue_ms REAL, server_prefill_ms REAL, server_decode_ms REAL,
    server_source TEXT, prefix_shared_tokens INTEGER, cache_outcome TEXT, concurrency INTEGER, idle_before_ms REAL,
    request_bytes INTEGER, response_bytes INTEGER, upstream_clock_offset_ms REAL, bound TEXT, cause TEXT, reason TEXT,
    rules_version INTEGER, service_tier TEXT, note TEXT, unread_events INTEGER, usage_raw TEXT, received_ms REAL,
    got_conn_ms REAL, sent_ms REAL, upload_lower_bound INTEGER, hosted_before_first_ms REAL,
    hosted_before_answer_ms REAL, delivery_period_ms REAL, delivery_bytes INTEGER, choices INTEGER, floor_ms REAL,
    model_idle_ms REAL, usual_rows INTEGER, usual_tokens INTEGER, usual_tpot_ms REAL, usual_prefill_ms REAL,
    cached_wait_ms REAL, estimate_error_ms REAL, prefix_counted INTEGER, prefix_idle_ms REAL, changed_section TEXT,
    changed_index INTEGER, cadence TEXT, pool_wait_ms REAL, seen_delivery TEXT, seen_tpot_ms REAL,
    seen_tokens_per_sec REAL, seen_rate_quality TEXT, seen_rate_last_over_first REAL, estimated_output_tokens INTEGER,
    experiment_step INTEGER, boundaries BLOB
) STRICT, WITHOUT ROWID;

-- None is under way while a log is upgraded.
UPDATE exchange SET
    outcome = 'interrupted',
    error   = 'the proxy was stopped before the exchange had ended'
WHERE outcome = 'open';
