-- The number of latencies in each bucket of src/ledger/latency.ts, separated by commas. NULL: none was
-- counted. Programs that do not know the column omit their keys.
ALTER TABLE rollup_minute ADD COLUMN latency_counts TEXT;
ALTER TABLE rollup_hour ADD COLUMN latency_counts TEXT;

-- The p-values of the suite on the sample of a validated key, in units of 10^-9, each 4 bytes, lowest byte
-- first. All ones: the test did not apply. A separate table by account: in `ledger` they would need an index
-- over the rows of all accounts, and most keys have none.
CREATE TABLE validated_keys (
  account_id TEXT NOT NULL,
  key_id BLOB NOT NULL CHECK (length(key_id) = 16),
  p_values BLOB NOT NULL,
  PRIMARY KEY (account_id, key_id)
) STRICT, WITHOUT ROWID;
