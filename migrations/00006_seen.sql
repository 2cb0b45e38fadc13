-- +goose Up
-- For a connection that another exchange dialled or gave back; NULL where none was waited for.
ALTER TABLE exchange ADD COLUMN pool_wait_ms REAL;

-- What was seen of a stream whose delivery is pseudo by what is usual for its
-- model: it has no rate then, unless it is judged otherwise one day.
ALTER TABLE exchange ADD COLUMN seen_delivery             TEXT;
ALTER TABLE exchange ADD COLUMN seen_tpot_ms              REAL;
ALTER TABLE exchange ADD COLUMN seen_tokens_per_sec       REAL;
ALTER TABLE exchange ADD COLUMN seen_rate_quality         TEXT;
ALTER TABLE exchange ADD COLUMN seen_rate_last_over_first REAL;
