-- oldest-program: 8
-- What is known of the server's clock, in one row; without it nothing was looked at yet. `seen_ms` is the time when the clock
-- was last found right, or accepted; while it is doubted, the time that it is held against. `doubted_ms` is what the clock
-- said when it was found wrong; NULL: it is trusted. Rows up to `accepted_until_ms` that lie ahead of the clock were
-- made by a wrong one and do not count; NULL: there are none.
CREATE TABLE clock_check (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seen_ms INTEGER NOT NULL,
  doubted_ms INTEGER,
  accepted_until_ms INTEGER
) STRICT;
