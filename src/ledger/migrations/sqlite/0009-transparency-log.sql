-- oldest-program: 8
-- Receipts and the transparency log. Each key's row keeps what its statement needs; see src/ledger/log-store.ts.
-- The columns have no constraint, because a constraint would read all rows. NULL: written without a log.
ALTER TABLE ledger ADD COLUMN key_commitment BLOB;
ALTER TABLE ledger ADD COLUMN salt BLOB;
ALTER TABLE ledger ADD COLUMN strength_bits INTEGER;
ALTER TABLE ledger ADD COLUMN sources TEXT;
ALTER TABLE ledger ADD COLUMN software_id INTEGER;

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
