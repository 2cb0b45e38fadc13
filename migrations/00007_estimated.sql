-- +goose Up
-- Output tokens as counted here where the upstream told none, NULL otherwise. They
-- are kept apart from output_tokens, so that no sum takes them for reported ones.
ALTER TABLE exchange ADD COLUMN estimated_output_tokens INTEGER;
