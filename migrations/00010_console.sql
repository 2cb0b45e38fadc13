-- +goose Up
-- What a provider's console has of an exchange, where the user asked to keep it
-- after an audit: mapped columns alone, nothing else of the file.
CREATE TABLE console (
    id                 TEXT PRIMARY KEY, -- of the exchange
    kept_at            INTEGER NOT NULL, -- Unix time in nanoseconds
    place              TEXT NOT NULL, -- file and rows
    class              TEXT NOT NULL, -- what the audit found
    model              TEXT NOT NULL,
    key_name           TEXT NOT NULL, -- as the console names it
    input_tokens       INTEGER, -- counted as the log counts; NULL: not stated
    cached_tokens      INTEGER,
    cache_write_tokens INTEGER,
    output_tokens      INTEGER,
    reasoning_tokens   INTEGER,
    amount             TEXT NOT NULL, -- exact decimal; empty: not stated
    currency           TEXT NOT NULL,
    money_kind         TEXT NOT NULL -- billed, list, quota
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER console_goes_with_exchange AFTER DELETE ON exchange BEGIN
    DELETE FROM console WHERE id = OLD.id;
END;
-- +goose StatementEnd
