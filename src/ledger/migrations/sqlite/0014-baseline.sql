-- oldest-program: 11
-- The whole schema.

-- Accounts. suspended_ms and deleted_ms are NULL for an active one. state_audit_id names the audit record of the last
-- change of its state.
CREATE TABLE accounts (
  account_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  plan TEXT NOT NULL,
  demo INTEGER NOT NULL CHECK (demo IN (0, 1)),
  created_ms INTEGER NOT NULL,
  sealed_only TEXT NOT NULL DEFAULT 'off' CHECK (sealed_only IN ('off', 'on', 'registered')),
  suspended_ms INTEGER,
  deleted_ms INTEGER,
  state_audit_id BLOB
) STRICT, WITHOUT ROWID;

-- API keys. An API key is stored only as the SHA-256 of its text. The columns from name on are NULL without rules; see
-- src/ledger/api-keys.ts. scopes and address_ranges are lists with commas. last_used_hour counts hours since 1970.
-- replaced_by names the API key that followed in a rotation, and counter_id the first one of such a chain: the API keys of
-- a chain share the counter of monthly_limit.
CREATE TABLE api_keys (
  api_key_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  key_hash BLOB NOT NULL UNIQUE CHECK (length(key_hash) = 32),
  hint TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  revoked_ms INTEGER,
  name TEXT,
  scopes TEXT,
  expires_ms INTEGER,
  address_ranges TEXT,
  rate_per_second REAL,
  burst INTEGER,
  monthly_limit INTEGER,
  last_used_hour INTEGER,
  replaced_by TEXT,
  counter_id TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX api_keys_account ON api_keys (account_id);

-- Public keys that an account registered by name. Not WITHOUT ROWID, whose rows should be small.
CREATE TABLE recipients (
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  name TEXT NOT NULL,
  suite TEXT NOT NULL,
  public_key BLOB NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY (account_id, name)
) STRICT;

-- Metered requests by account and UTC calendar month (months since year 0).
CREATE TABLE usage (
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  month INTEGER NOT NULL,
  used INTEGER NOT NULL CHECK (used >= 0),
  PRIMARY KEY (account_id, month)
) STRICT, WITHOUT ROWID;

-- Metered requests of API keys with a monthly_limit, by the first API key of the chain and UTC calendar month.
CREATE TABLE api_key_usage (
  api_key_id TEXT NOT NULL,
  month INTEGER NOT NULL,
  used INTEGER NOT NULL CHECK (used >= 0),
  PRIMARY KEY (api_key_id, month)
) STRICT, WITHOUT ROWID;

-- One row per generated key, in time order: key_id is a UUIDv7. No column holds key bytes. The commitment is a
-- keyed digest, and fingerprint is its first 64 bits.
--
-- evidence_definition says what gate_p, tests_passed, total_tests and p_values describe. 1: the suite on the modulated
-- sample (188 p-values). 2: the suite on the carrier, and four tests on the modulated sample (192). NULL: a plain key, or 1.
-- key_commitment to software_id are what the key's statement needs (src/ledger/log-store.ts); NULL: written without a log.
-- sealed_to and sealed_digest are NULL for a key that was returned in plaintext. labels is a canonical JSON object.
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
  total_tests INTEGER,
  evidence_definition INTEGER,
  key_commitment BLOB,
  salt BLOB,
  strength_bits INTEGER,
  sources TEXT,
  software_id INTEGER,
  sealed_to BLOB,
  sealed_digest BLOB,
  labels TEXT,
  expires_ms INTEGER
) STRICT, WITHOUT ROWID;

-- The p-values of the suite on the sample of a validated key, in units of 10^-9, each 4 bytes, lowest byte
-- first. All ones: the test did not apply. A separate table by account: in `ledger` they would need an index
-- over the rows of all accounts, and most keys have none.
CREATE TABLE validated_keys (
  account_id TEXT NOT NULL,
  key_id BLOB NOT NULL CHECK (length(key_id) = 16),
  p_values BLOB NOT NULL,
  evidence_definition INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (account_id, key_id)
) STRICT, WITHOUT ROWID;

-- A deferred index of the ledger by fingerprint; see src/ledger/sqlite/fingerprints.ts. An index of SQLite's own would
-- change one random page for each key. This table has most rows of the ledger.
CREATE TABLE fingerprints (
  fingerprint INTEGER NOT NULL,
  key_id BLOB NOT NULL,
  PRIMARY KEY (fingerprint, key_id)
) STRICT, WITHOUT ROWID;

-- The entries of each commit that no pass has merged into `fingerprints` yet, and some that one has merged. An entry is
-- the fingerprint, as the first eight bytes of the commitment, and the key ID. AUTOINCREMENT uses no number twice, so
-- every process finds what the others have committed.
CREATE TABLE recent_fingerprints (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  entries BLOB NOT NULL CHECK (length(entries) > 0 AND length(entries) % 24 = 0)
) STRICT;

-- The state of the merge, in one row. Everything up to `merged` is in `fingerprints`. While `through` is higher, a pass
-- is in progress: entries up to `through` are there too if their first 12 bits are below `next`.
CREATE TABLE fingerprint_merge (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  merged INTEGER NOT NULL,
  through INTEGER NOT NULL,
  next INTEGER NOT NULL CHECK (next BETWEEN 0 AND 4095),
  changes INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO fingerprint_merge (id, merged, through, next) VALUES (1, 0, 0, 0);

-- Bloom filters of `fingerprints`, by the first 12 bits; see src/ledger/sqlite/fingerprint-filters.ts. A pass saves them.
-- `room` is the number of entries that a filter takes before it is made again.
CREATE TABLE fingerprint_filters (
  bucket INTEGER PRIMARY KEY CHECK (bucket BETWEEN 0 AND 4095),
  room INTEGER NOT NULL CHECK (room >= 0),
  bits BLOB NOT NULL CHECK (length(bits) = 2048)
) STRICT;

CREATE TRIGGER fingerprint_removed AFTER DELETE ON ledger BEGIN
  DELETE FROM fingerprints WHERE fingerprint = old.fingerprint AND key_id = old.key_id;
END;

CREATE TRIGGER fingerprint_changed AFTER UPDATE OF fingerprint, key_id ON ledger BEGIN
  DELETE FROM fingerprints WHERE fingerprint = old.fingerprint AND key_id = old.key_id;
  INSERT OR IGNORE INTO fingerprints (fingerprint, key_id) VALUES (new.fingerprint, new.key_id);
  DELETE FROM fingerprint_filters WHERE bucket = (new.fingerprint >> 52) & 4095;
  UPDATE fingerprint_merge SET changes = changes + 1;
END;

-- A deferred index of the ledger by account; see src/ledger/sqlite/account-keys.ts.
CREATE TABLE account_keys (
  account_id TEXT NOT NULL,
  key_id BLOB NOT NULL,
  PRIMARY KEY (account_id, key_id)
) STRICT, WITHOUT ROWID;

-- The state of the merge, in one row. Every row of the ledger up to `through` is in `account_keys`. Servers merge existing
-- rows beside commits.
CREATE TABLE account_keys_merge (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  through BLOB NOT NULL
) STRICT;

INSERT INTO account_keys_merge (id, through) VALUES (1, x'');

-- The triggers keep what is merged as the ledger is, also for programs before version 12, which merge nothing.
CREATE TRIGGER account_key_late AFTER INSERT ON ledger
WHEN new.key_id <= (SELECT through FROM account_keys_merge) BEGIN
  INSERT OR IGNORE INTO account_keys (account_id, key_id) VALUES (new.account_id, new.key_id);
END;

CREATE TRIGGER account_key_removed AFTER DELETE ON ledger BEGIN
  DELETE FROM account_keys WHERE account_id = old.account_id AND key_id = old.key_id;
END;

CREATE TRIGGER account_key_changed AFTER UPDATE OF account_id, key_id ON ledger BEGIN
  DELETE FROM account_keys WHERE account_id = old.account_id AND key_id = old.key_id;
  INSERT OR IGNORE INTO account_keys (account_id, key_id)
  SELECT new.account_id, new.key_id FROM account_keys_merge WHERE new.key_id <= through;
END;

-- One row for each key that expires or is revoked. It outlives the row in the ledger, so it names the commitment. state,
-- reason, revoked_ms and audit_id, which names the audit record, describe the revocation that counts.
CREATE TABLE key_states (
  key_id BLOB PRIMARY KEY CHECK (length(key_id) = 16),
  account_id TEXT NOT NULL,
  fingerprint INTEGER NOT NULL,
  commitment BLOB NOT NULL CHECK (length(commitment) = 32),
  secret_version INTEGER NOT NULL,
  expires_ms INTEGER,
  state TEXT CHECK (state IN ('deactivated', 'compromised')),
  reason TEXT CHECK ((reason IS NULL) = (state IS NULL)),
  revoked_ms INTEGER CHECK ((revoked_ms IS NULL) = (state IS NULL)),
  audit_id BLOB CHECK ((audit_id IS NULL) = (state IS NULL)),
  CHECK (expires_ms IS NOT NULL OR state IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE INDEX key_states_fingerprint ON key_states (fingerprint);

-- Requests with an Idempotency-Key that were committed. A record counts for 24 hours from made_ms, the time of its
-- request. One table: dropping one for each day would hold the write lock while all its pages are freed. Records are
-- removed in small pieces in the order of their rowid, which is the order of time, and later ones take their pages.
-- key_ids holds 16 bytes a key.
CREATE TABLE idempotency (
  account_id TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  made_ms INTEGER NOT NULL,
  request_hash BLOB NOT NULL CHECK (length(request_hash) = 32),
  key_ids BLOB NOT NULL CHECK (length(key_ids) % 16 = 0),
  created_ms INTEGER NOT NULL,
  body TEXT,
  PRIMARY KEY (account_id, idempotency_key)
) STRICT;

-- Sums by account and minute or hour (epoch milliseconds divided by 60,000 or 3,600,000). They change in the
-- transaction of the rows they count. failures are generate calls answered 5xx. latency_counts is the number of latencies
-- in each bucket of src/ledger/latency.ts, separated by commas. NULL: none was counted.
CREATE TABLE rollup_minute (
  account_id TEXT NOT NULL,
  period INTEGER NOT NULL,
  keys INTEGER NOT NULL,
  latency_us INTEGER NOT NULL,
  streams INTEGER NOT NULL,
  streams_passed INTEGER NOT NULL,
  metered INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  latency_counts TEXT,
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
  latency_counts TEXT,
  PRIMARY KEY (account_id, period)
) STRICT, WITHOUT ROWID;

-- One check value per version of the master secret. A server does not start with a secret that does not match.
-- activated_ms is when the version was first current on a server; NULL: never. A server that lacks an activated version
-- cannot tell which keys were generated here. retired_ms is NULL for a version that is not retired. A proof under a retired
-- version counts only with a row of its key, made before compromised_ms; NULL: made at any time.
CREATE TABLE secret_checks (
  version INTEGER PRIMARY KEY,
  check_value BLOB NOT NULL CHECK (length(check_value) = 32),
  registered_ms INTEGER NOT NULL,
  activated_ms INTEGER DEFAULT 0,
  retired_ms INTEGER,
  compromised_ms INTEGER
) STRICT, WITHOUT ROWID;

-- The schema version of the oldest programs that can work with this schema. A program whose newest migration
-- has this number or a later one accepts the schema, even without knowing its last migrations. The program
-- that applies a migration writes the one row; `version` is the `user_version` to which it belongs.
CREATE TABLE schema_version (
  version INTEGER PRIMARY KEY,
  oldest_program INTEGER NOT NULL
) STRICT;

-- The state of the server's clock, in one row; without a row, no look has been taken yet. `seen_ms` is the
-- time when the clock was last found right, or accepted; during a doubt it is the time with which the clock is
-- compared. `doubted_ms` is the clock's time when the doubt began; NULL: the clock is trusted. Rows up to
-- `accepted_until_ms` that are ahead of the clock were made by a wrong clock and do not count; NULL: there are
-- none.
CREATE TABLE clock_check (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seen_ms INTEGER NOT NULL,
  doubted_ms INTEGER,
  accepted_until_ms INTEGER
) STRICT;

-- Names of the software that generated keys.
CREATE TABLE software (
  software_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- One row per log, with the size and root of its tree. head_mac is their MAC under the version head_version of
-- the master secret. closed_ms is NULL for the open log.
CREATE TABLE logs (
  log_id INTEGER PRIMARY KEY,
  origin TEXT NOT NULL UNIQUE,
  verifier_keys TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  closed_ms INTEGER,
  size INTEGER NOT NULL CHECK (size >= 0),
  root BLOB NOT NULL CHECK (length(root) = 32),
  head_mac BLOB NOT NULL CHECK (length(head_mac) = 32),
  head_version INTEGER NOT NULL
) STRICT;

-- At most one log is open.
CREATE UNIQUE INDEX logs_open ON logs (closed_ms IS NULL) WHERE closed_ms IS NULL;

-- The newest published checkpoint of a log, and the newest with enough cosignatures. Apart from `logs`, so that
-- a turn does not rewrite them.
CREATE TABLE log_checkpoints (
  log_id INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('checkpoint', 'witnessed')),
  size INTEGER NOT NULL,
  note TEXT NOT NULL,
  PRIMARY KEY (log_id, kind)
) STRICT;

-- Entries that wait for a turn. A key's transaction adds its own. mac is under the version secret_version of
-- the master secret.
CREATE TABLE log_pending (
  entry_id BLOB PRIMARY KEY CHECK (length(entry_id) = 16),
  log_id INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('key', 'audit')),
  entry BLOB NOT NULL CHECK (length(entry) = 32),
  mac BLOB NOT NULL CHECK (length(mac) = 32),
  secret_version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The entries of the logs. entry_id is NULL without a statement: entry 0 of a log that follows another
-- ('start'), and entries from a copy ('recovered').
CREATE TABLE log_entries (
  log_id INTEGER NOT NULL,
  entry_index INTEGER NOT NULL,
  entry BLOB NOT NULL CHECK (length(entry) = 32),
  entry_id BLOB CHECK (length(entry_id) = 16),
  kind TEXT NOT NULL CHECK (kind IN ('key', 'audit', 'start', 'recovered')),
  PRIMARY KEY (log_id, entry_index)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX log_entries_id ON log_entries (entry_id) WHERE entry_id IS NOT NULL;

-- Tiles of up to 256 hashes. Level 0 has only full tiles. Not WITHOUT ROWID, whose rows should be small.
CREATE TABLE log_tiles (
  log_id INTEGER NOT NULL,
  level INTEGER NOT NULL,
  tile_index INTEGER NOT NULL,
  hashes BLOB NOT NULL CHECK (length(hashes) BETWEEN 32 AND 8192 AND length(hashes) % 32 = 0),
  PRIMARY KEY (log_id, level, tile_index)
) STRICT;

-- Entries that a turn refused. set_aside_id is random: nothing here may stop a turn.
CREATE TABLE log_set_aside (
  set_aside_id BLOB PRIMARY KEY DEFAULT (randomblob(16)),
  entry_id BLOB NOT NULL,
  log_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  entry BLOB NOT NULL,
  mac BLOB NOT NULL,
  secret_version INTEGER NOT NULL,
  noted_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Administrative actions. details is canonical JSON (RFC 8785).
CREATE TABLE audit (
  audit_id BLOB PRIMARY KEY CHECK (length(audit_id) = 16),
  at_ms INTEGER NOT NULL,
  action TEXT NOT NULL,
  details TEXT NOT NULL,
  salt BLOB NOT NULL CHECK (length(salt) = 32)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_action ON audit (action, audit_id);
