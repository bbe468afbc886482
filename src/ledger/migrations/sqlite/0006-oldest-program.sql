-- oldest-program: 6
-- The schema version of the oldest programs that can work with this schema. A program whose newest migration
-- has this number or a later one accepts the schema, even without knowing its last migrations. The program
-- that applies a migration writes the one row; `version` is the `user_version` to which it belongs.
CREATE TABLE schema_version (
  version INTEGER PRIMARY KEY,
  oldest_program INTEGER NOT NULL
) STRICT;
