-- oldest-program: 11
-- A deferred index of the ledger by fingerprint; see src/ledger/sqlite/fingerprints.ts. An index of SQLite's own would
-- change one random page for each key. Older programs would read the whole ledger instead.

-- Most rows of the ledger.
CREATE TABLE fingerprints (
  fingerprint INTEGER NOT NULL,
  key_id BLOB NOT NULL,
  PRIMARY KEY (fingerprint, key_id)
) STRICT, WITHOUT ROWID;

-- The old index also holds the key IDs, so it is read alone and in order.
INSERT INTO fingerprints SELECT fingerprint, key_id FROM ledger ORDER BY fingerprint, key_id;
DROP INDEX ledger_fingerprint;

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
