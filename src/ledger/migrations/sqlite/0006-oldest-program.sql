-- oldest-program: 6
-- The schema version of the oldest programs that can work with this schema. A program whose newest migration has this
-- number, or a later one, accepts the schema although it does not know its last migrations. The program that applies
-- a migration writes the one row; `version` is the `user_version` that it belongs to.
CREATE TABLE schema_version (
  version INTEGER PRIMARY KEY,
  oldest_program INTEGER NOT NULL
) STRICT;
