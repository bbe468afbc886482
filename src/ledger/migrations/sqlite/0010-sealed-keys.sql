-- oldest-program: 8
-- Keys sealed to their recipient, batches, and idempotency records; see src/ledger/store.ts. An older program rebuilds
-- the statement of a sealed key without its recipient, and returns plaintext keys to every account. So the first
-- sealed row and the first account with sealed_only raise schema_version.oldest_program to 10.

-- The columns have no constraint, because a constraint would read all rows. NULL: returned in plaintext.
ALTER TABLE ledger ADD COLUMN sealed_to BLOB;
ALTER TABLE ledger ADD COLUMN sealed_digest BLOB;

ALTER TABLE accounts ADD COLUMN sealed_only TEXT NOT NULL DEFAULT 'off'
  CHECK (sealed_only IN ('off', 'on', 'registered'));

-- Public keys that an account registered by name. Not WITHOUT ROWID, whose rows should be small.
CREATE TABLE recipients (
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  name TEXT NOT NULL,
  suite TEXT NOT NULL,
  public_key BLOB NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY (account_id, name)
) STRICT;

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
