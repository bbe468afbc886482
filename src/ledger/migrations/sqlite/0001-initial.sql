-- Accounts and their API keys. An API key is stored only as the SHA-256 of its text.
CREATE TABLE accounts (
  account_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  plan TEXT NOT NULL,
  demo INTEGER NOT NULL CHECK (demo IN (0, 1)),
  created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  api_key_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  key_hash BLOB NOT NULL UNIQUE CHECK (length(key_hash) = 32),
  hint TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  revoked_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_keys_account ON api_keys (account_id);

-- Metered requests by account and UTC calendar month (months since year 0).
CREATE TABLE usage (
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  month INTEGER NOT NULL,
  used INTEGER NOT NULL CHECK (used >= 0),
  PRIMARY KEY (account_id, month)
) STRICT, WITHOUT ROWID;

-- One row per generated key, in time order: key_id is a UUIDv7. No column holds key bytes. The commitment is a
-- keyed digest, and fingerprint is its first 64 bits, which keep the index small.
CREATE TABLE ledger (
  key_id BLOB PRIMARY KEY CHECK (length(key_id) = 16),
  fingerprint INTEGER NOT NULL,
  commitment BLOB NOT NULL CHECK (length(commitment) = 32),
  secret_version INTEGER NOT NULL,
  account_id TEXT NOT NULL,
  api_key_id TEXT NOT NULL,
  security_level INTEGER NOT NULL CHECK (security_level IN (128, 256, 384)),
  modulation TEXT NOT NULL,
  source TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  latency_us INTEGER NOT NULL,
  entropy_bits REAL NOT NULL,
  entropy_job_id TEXT,
  gate_p REAL,
  tests_passed INTEGER,
  total_tests INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX ledger_fingerprint ON ledger (fingerprint);

-- Sums by account and minute or hour (epoch milliseconds divided by 60,000 or 3,600,000). They change in the
-- transaction of the rows they count. failures are generate calls answered 5xx.
CREATE TABLE rollup_minute (
  account_id TEXT NOT NULL,
  period INTEGER NOT NULL,
  keys INTEGER NOT NULL,
  latency_us INTEGER NOT NULL,
  streams INTEGER NOT NULL,
  streams_passed INTEGER NOT NULL,
  metered INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  PRIMARY KEY (account_id, period)
) STRICT, WITHOUT ROWID;

CREATE TABLE rollup_hour (
  account_id TEXT NOT NULL,
  period INTEGER NOT NULL,
  keys INTEGER NOT NULL,
  latency_us INTEGER NOT NULL,
  streams INTEGER NOT NULL,
  streams_passed INTEGER NOT NULL,
  metered INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  PRIMARY KEY (account_id, period)
) STRICT, WITHOUT ROWID;

-- One check value per version of the master secret. A server does not start with a secret that does not match.
CREATE TABLE secret_checks (
  version INTEGER PRIMARY KEY,
  check_value BLOB NOT NULL CHECK (length(check_value) = 32),
  registered_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
