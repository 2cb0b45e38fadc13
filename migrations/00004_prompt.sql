-- +goose Up
-- What a prompt has in common with earlier ones of its route.
ALTER TABLE exchange ADD COLUMN prefix_counted  INTEGER; -- 0 or 1: whether prefix_shared_tokens is the upstream's own count
ALTER TABLE exchange ADD COLUMN prefix_idle_ms  REAL;    -- since an exchange ended that had the shared beginning
ALTER TABLE exchange ADD COLUMN changed_section TEXT;    -- the part whose change broke the session's prefix, or compaction
ALTER TABLE exchange ADD COLUMN changed_index   INTEGER; -- its place in the prompt, the model being 0

-- The sections of a prompt: the part, the size and a keyed hash of each, never a
-- text. Apart from exchange, since lists do without it and it is longer than a
-- row of theirs.
CREATE TABLE prompt (
    id         TEXT PRIMARY KEY, -- of the exchange
    boundaries BLOB NOT NULL
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER prompt_goes_with_exchange AFTER DELETE ON exchange BEGIN
    DELETE FROM prompt WHERE id = OLD.id;
END;
-- +goose StatementEnd
