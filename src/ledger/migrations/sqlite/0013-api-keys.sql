-- oldest-program: 11
-- Rules of API keys; see src/ledger/api-keys.ts. An older program accepts an API key whatever its rules. So the first API
-- key with a rule raises schema_version.oldest_program to 13.

-- NULL everywhere: an API key without rules. scopes and address_ranges are lists with commas. last_used_hour counts hours
-- since 1970. replaced_by names the API key that followed in a rotation, and counter_id the first one of such a chain:
-- the API keys of a chain share the counter of monthly_limit.
ALTER TABLE api_keys ADD COLUMN name TEXT;
ALTER TABLE api_keys ADD COLUMN scopes TEXT;
ALTER TABLE api_keys ADD COLUMN expires_ms INTEGER;
ALTER TABLE api_keys ADD COLUMN address_ranges TEXT;
ALTER TABLE api_keys ADD COLUMN rate_per_second REAL;
ALTER TABLE api_keys ADD COLUMN burst INTEGER;
ALTER TABLE api_keys ADD COLUMN monthly_limit INTEGER;
ALTER TABLE api_keys ADD COLUMN last_used_hour INTEGER;
ALTER TABLE api_keys ADD COLUMN replaced_by TEXT;
ALTER TABLE api_keys ADD COLUMN counter_id TEXT;

-- Metered requests of API keys with a monthly_limit, by the first API key of the chain and UTC calendar month.
CREATE TABLE api_key_usage (
  api_key_id TEXT NOT NULL,
  month INTEGER NOT NULL,
  used INTEGER NOT NULL CHECK (used >= 0),
  PRIMARY KEY (api_key_id, month)
) STRICT, WITHOUT ROWID;
