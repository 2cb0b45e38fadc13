-- +goose Up
-- How the output was spread over time: the milliseconds of a step, the bytes that
-- came with the first read and those of each step after it, reasoning+answer
-- where there was reasoning; then, after a bar, the gaps as from+took in
-- milliseconds. 100 4 52 48 0 0 51 | 200+210
ALTER TABLE exchange ADD COLUMN cadence TEXT;
