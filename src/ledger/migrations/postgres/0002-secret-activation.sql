-- When a version of the master secret was first current on some server; NULL: never. A server that lacks
-- an activated version cannot tell which keys were made here. Rows of programs that know no such column
-- have 0: they make keys under what they register.
ALTER TABLE secret_checks ADD COLUMN activated_ms bigint DEFAULT 0;
