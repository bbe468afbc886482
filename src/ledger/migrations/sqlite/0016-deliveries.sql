-- oldest-program: 14
-- Deliveries: sealed copies of keys that wait for registered recipients. See src/ledger/deliveries.ts.

-- One row for each delivery, while its key has a row in the ledger: its ID is not used again. until_ms is when its copies
-- expire.
CREATE TABLE deliveries (
  account_id TEXT NOT NULL,
  delivery_id BLOB NOT NULL CHECK (length(delivery_id) = 16),
  key_id BLOB NOT NULL CHECK (length(key_id) = 16),
  until_ms INTEGER NOT NULL,
  PRIMARY KEY (account_id, delivery_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX deliveries_key ON deliveries (key_id);

-- One row for each recipient of a delivery. sealed_key, of `size` bytes, is NULL once the copy has left the box. received_ms is
-- the time of the first fetch. Not WITHOUT ROWID, whose rows should be small.
CREATE TABLE delivery_copies (
  account_id TEXT NOT NULL,
  delivery_id BLOB NOT NULL,
  recipient TEXT NOT NULL,
  key_id BLOB NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'received', 'removed', 'expired', 'revoked')),
  until_ms INTEGER NOT NULL,
  received_ms INTEGER,
  size INTEGER NOT NULL,
  sealed_key TEXT CHECK ((sealed_key IS NOT NULL) = (state IN ('waiting', 'received'))),
  PRIMARY KEY (account_id, delivery_id, recipient)
) STRICT;

-- A box in the order of its keys.
CREATE INDEX delivery_copies_box ON delivery_copies (account_id, recipient, state, key_id)
WHERE state IN ('waiting', 'received');

-- A box in the order in which its copies expire.
CREATE INDEX delivery_copies_until ON delivery_copies (account_id, recipient, until_ms, size, state)
WHERE state IN ('waiting', 'received');

-- The delivery of a key, as its sealed copies and its statement name it: a UUID, and 32 bytes of the caller.
ALTER TABLE ledger ADD COLUMN delivery_id BLOB;
ALTER TABLE ledger ADD COLUMN delivery_context BLOB;

-- Names of recipients that the API key may receive for, with commas; NULL: all of the account.
ALTER TABLE api_keys ADD COLUMN recipients TEXT;
