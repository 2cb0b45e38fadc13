-- +goose Up
-- What was usual for the model, as of the verdict; NULL without a baseline.
ALTER TABLE exchange ADD COLUMN model_idle_ms     REAL;    -- since the model's exchange before this one ended
ALTER TABLE exchange ADD COLUMN usual_rows        INTEGER; -- exchanges that the baseline rests on
ALTER TABLE exchange ADD COLUMN usual_tokens      INTEGER; -- the most uncached tokens among them
ALTER TABLE exchange ADD COLUMN usual_tpot_ms     REAL;    -- the model's median time per token
ALTER TABLE exchange ADD COLUMN usual_prefill_ms  REAL;    -- prefill of this prompt, however short the wait was
ALTER TABLE exchange ADD COLUMN cached_wait_ms    REAL;    -- first token, had all of the prompt been cached
ALTER TABLE exchange ADD COLUMN estimate_error_ms REAL;    -- either way, of an estimated queue or prefill
