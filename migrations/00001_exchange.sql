-- +goose Up
-- One row is one request and its answer. NULL is "did not happen" or "was not
-- reported", never 0 or the end time. Columns that end in _ms are milliseconds,
-- exact to the microsecond; instants among them count from the start.
CREATE TABLE exchange (
    -- The rowid is the key of the table, so that the indexes stay small.
    id                        TEXT    NOT NULL UNIQUE, -- sortable by time
    started_at                INTEGER NOT NULL,        -- Unix time in nanoseconds

    upstream                  TEXT,    -- name of the upstream, "default" for the unnamed one
    key_id                    TEXT,    -- keyed hash of the credential
    client                    TEXT,    -- product and version of the user agent
    session_id                TEXT,
    turn_id                   TEXT,
    request_kind              TEXT,    -- as the client says
    experiment                TEXT,
    method                    TEXT,
    path                      TEXT,    -- as asked for, its query scrubbed
    dialect                   TEXT,    -- wire format
    transport                 TEXT,    -- http, sse, ndjson, websocket
    streamed                  INTEGER, -- 0 or 1
    model_requested           TEXT,
    model_served              TEXT,
    status                    INTEGER, -- the upstream's
    outcome                   TEXT    NOT NULL, -- "open" while under way
    error                     TEXT,    -- the step and the cause, never a quoted prompt
    finish_reason             TEXT,
    request_id                TEXT,    -- the upstream's
    response_id               TEXT,    -- the body's
    gateway_request_id        TEXT,
    retry_group               TEXT,
    attempt                   INTEGER,

    prompt_tokens             INTEGER, -- cached ones included
    cached_tokens             INTEGER,
    cache_write_tokens        INTEGER,
    uncached_tokens           INTEGER,
    output_tokens             INTEGER, -- reasoning included
    reasoning_tokens          INTEGER,
    total_tokens              INTEGER,
    usage_source              TEXT,    -- reported, estimated, absent
    reasoning                 TEXT,    -- visible, summary, hidden, none

    conn_reused               INTEGER, -- 0 or 1
    dns_ms                    REAL,    -- dns, connect, tls: durations, NULL when reused
    connect_ms                REAL,
    tls_ms                    REAL,
    upload_ms                 REAL,
    rtt_ms                    REAL,
    headers_ms                REAL,
    first_byte_ms             REAL,
    first_event_ms            REAL,
    generation_started_ms     REAL,
    first_token_ms            REAL,
    first_reasoning_ms        REAL,
    first_text_ms             REAL,
    first_tool_ms             REAL,
    answer_start_ms           REAL,
    last_token_ms             REAL,
    terminal_ms               REAL,
    total_ms                  REAL,

    network_ms                REAL,
    wait_ms                   REAL,
    queue_ms                  REAL,
    prefill_ms                REAL,
    decode_ms                 REAL,
    hidden_decode_ms          REAL,
    unseen_decode_ms          REAL,
    hosted_tool_ms            REAL,
    client_wait_ms            REAL,    -- blocked on writing to the client
    proxy_ms                  REAL,    -- the proxy's own share
    excess_ms                 REAL,    -- may be negative
    tpot_ms                   REAL,    -- time per output token
    tokens_per_sec            REAL,
    rate_quality              TEXT,    -- steady, fair, noisy
    rate_last_over_first      REAL,
    end_to_end_tokens_per_sec REAL,
    prefill_tokens_per_sec    REAL,

    output_events             INTEGER,
    tokens_per_event          REAL,
    max_gap_ms                REAL,
    stalls                    INTEGER,
    stall_ms                  REAL,
    delivery                  TEXT,    -- streamed, bursty, pseudo, single, none
    server_queue_ms           REAL,    -- server_*: what the upstream says of itself
    server_prefill_ms         REAL,
    server_decode_ms          REAL,
    server_source             TEXT,
    prefix_shared_tokens      INTEGER,
    cache_outcome             TEXT,
    concurrency               INTEGER, -- in flight on that upstream, itself included
    idle_before_ms            REAL,
    request_bytes             INTEGER,
    response_bytes            INTEGER,
    upstream_clock_offset_ms  REAL,    -- may be negative
    bound                     TEXT,    -- bound, cause, reason: the verdict as of its time
    cause                     TEXT,
    reason                    TEXT,
    rules_version             INTEGER,

    service_tier              TEXT,
    note                      TEXT,    -- what the observer could not read
    unread_events             INTEGER,
    usage_raw                 TEXT,    -- the usage object as sent
    received_ms               REAL,
    got_conn_ms               REAL,
    sent_ms                   REAL,
    upload_lower_bound        INTEGER, -- 0 or 1
    hosted_before_first_ms    REAL,
    hosted_before_answer_ms   REAL,
    delivery_period_ms        REAL,
    delivery_bytes            INTEGER,
    choices                   INTEGER, -- NULL for one
    floor_ms                  REAL     -- the baseline's fixed start, as of the verdict
) STRICT;

-- The log is read by time, newest first, mostly with one more condition.
CREATE INDEX exchange_time    ON exchange (started_at);
CREATE INDEX exchange_model   ON exchange (ifnull(model_served, model_requested), started_at);
CREATE INDEX exchange_session ON exchange (session_id, started_at) WHERE session_id IS NOT NULL;
CREATE INDEX exchange_turn    ON exchange (turn_id, started_at) WHERE turn_id IS NOT NULL;
CREATE INDEX exchange_bound   ON exchange (bound, started_at);
CREATE INDEX exchange_outcome ON exchange (outcome, started_at);
