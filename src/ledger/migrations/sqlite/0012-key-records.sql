-- oldest-program: 11
-- Key records: labels, expiry, states of keys, and an index by account; see src/ledger/key-records.ts. An older program
-- validates a key whatever its state, and rebuilds the statement of a row without its labels and expiry. So the first row
-- with one of them, and the first state, raise schema_version.oldest_program to 12.

-- The columns have no constraint, because a constraint would read all rows. labels is a canonical JSON object.
ALTER TABLE ledger ADD COLUMN labels TEXT;
ALTER TABLE ledger ADD COLUMN expires_ms INTEGER;

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

-- The triggers also serve older programs, which merge nothing.
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
