-- How many latencies fell into each bucket of src/ledger/latency.ts, from the first on, with commas between.
-- NULL: none was counted. Programs that know no such column leave keys out.
ALTER TABLE rollup_minute ADD COLUMN latency_counts TEXT;
ALTER TABLE rollup_hour ADD COLUMN latency_counts TEXT;

-- The p-values of the suite on the sample of a validated key, in units of 10^-9, each 4 bytes, the lowest
-- first; all ones: the test did not apply. A table of its own, by account: in `ledger` they would need an index
-- over the rows of all accounts, and most keys have none.
CREATE TABLE validated_keys (
  account_id TEXT NOT NULL,
  key_id BLOB NOT NULL CHECK (length(key_id) = 16),
  p_values BLOB NOT NULL,
  PRIMARY KEY (account_id, key_id)
) STRICT, WITHOUT ROWID;
