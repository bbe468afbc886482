-- When a version of the master secret was first current on a server; NULL: never. A server that lacks an
-- activated version cannot tell which keys were generated here. Programs that do not know the column leave it
-- 0, because they make keys under every version that they register.
ALTER TABLE secret_checks ADD COLUMN activated_ms INTEGER DEFAULT 0;
