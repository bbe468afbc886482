-- When a version of the master secret was retired; NULL: it is not. A proof under a retired version counts
-- only with a row of its key, made before compromised_ms; NULL: made at any time.
ALTER TABLE secret_checks ADD COLUMN retired_ms INTEGER;
ALTER TABLE secret_checks ADD COLUMN compromised_ms INTEGER;
