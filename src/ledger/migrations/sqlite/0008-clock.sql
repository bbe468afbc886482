-- oldest-program: 8
-- The state of the server's clock, in one row; without a row, no look has been taken yet. `seen_ms` is the
-- time when the clock was last found right, or accepted; during a doubt it is the time with which the clock is
-- compared. `doubted_ms` is the clock's time when the doubt began; NULL: the clock is trusted. Rows up to
-- `accepted_until_ms` that are ahead of the clock were made by a wrong clock and do not count; NULL: there are
-- none.
CREATE TABLE clock_check (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seen_ms INTEGER NOT NULL,
  doubted_ms INTEGER,
  accepted_until_ms INTEGER
) STRICT;
