-- +goose Up
-- Which request of its experiment an exchange is.
ALTER TABLE exchange ADD COLUMN experiment_step INTEGER;

CREATE INDEX exchange_experiment ON exchange (experiment, started_at) WHERE experiment IS NOT NULL;

-- What an experiment was meant to find. What it found is in its exchanges.
CREATE TABLE experiment (
    id         TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL, -- Unix time in nanoseconds
    ended_at   INTEGER, -- NULL while it runs, and for one that was killed
    stopped    INTEGER NOT NULL DEFAULT 0, -- 1: ended before its last request
    plan       TEXT NOT NULL -- JSON
) STRICT;
