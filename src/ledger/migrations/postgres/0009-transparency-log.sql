-- oldest-program: 8
-- Receipts and the transparency log. Each key's row keeps what its statement needs; see src/ledger/log-store.ts.
-- The columns have no constraint, because a constraint would read all rows. NULL: written without a log.
ALTER TABLE ledger
  ADD COLUMN key_commitment bytea,
  ADD COLUMN salt bytea,
  ADD COLUMN strength_bits integer,
  ADD COLUMN sources text,
  ADD COLUMN software_id integer;

-- Names of the software that generated keys.
CREATE TABLE software (
  software_id integer PRIMARY KEY,
  name text NOT NULL UNIQUE
);

-- Returns where the ledger lives: cluster, database, table and timeline. It changes with each restore that makes one of
-- them new, and with each promotion. The control file learns a new timeline later, at a checkpoint. A role that may not
-- read the control file gets the rest, and a standby has no timeline of its own.
CREATE FUNCTION ledger_home() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  cluster text := '-';
BEGIN
  BEGIN
    SELECT system_identifier INTO cluster FROM pg_control_system();
  EXCEPTION WHEN insufficient_privilege THEN
    NULL;
  END;
  RETURN concat_ws('/', cluster, (SELECT oid FROM pg_database WHERE datname = current_database()),
    to_regclass('logs')::oid,
    CASE WHEN pg_is_in_recovery() THEN '-' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END);
END $$;

-- One row per log, with the size and root of its tree. head_mac is their MAC under the version head_version of
-- the master secret. closed_ms is NULL for the open log. home is where an operator or the log's start accepted
-- the ledger; a restore brings the old value back.
CREATE TABLE logs (
  log_id integer PRIMARY KEY,
  origin text NOT NULL UNIQUE,
  verifier_keys text NOT NULL,
  started_ms bigint NOT NULL,
  closed_ms bigint,
  size bigint NOT NULL CHECK (size >= 0),
  root bytea NOT NULL CHECK (length(root) = 32),
  head_mac bytea NOT NULL CHECK (length(head_mac) = 32),
  head_version integer NOT NULL,
  home text NOT NULL DEFAULT ledger_home()
);

-- At most one log is open.
CREATE UNIQUE INDEX logs_open ON logs ((closed_ms IS NULL)) WHERE closed_ms IS NULL;

-- The newest published checkpoint of a log, and the newest with enough cosignatures. Apart from `logs`, so that
-- a turn does not rewrite them.
CREATE TABLE log_checkpoints (
  log_id integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('checkpoint', 'witnessed')),
  size bigint NOT NULL,
  note text NOT NULL,
  PRIMARY KEY (log_id, kind)
);

-- Entries that wait for a turn. A key's transaction adds its own. mac is under the version secret_version of
-- the master secret. Turns empty this table, so it is vacuumed by the number of dead rows.
CREATE TABLE log_pending (
  entry_id bytea PRIMARY KEY CHECK (length(entry_id) = 16),
  log_id integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('key', 'audit')),
  entry bytea NOT NULL CHECK (length(entry) = 32),
  mac bytea NOT NULL CHECK (length(mac) = 32),
  secret_version integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- The entries of the logs. entry_id is NULL without a statement: entry 0 of a log that follows another
-- ('start'), and entries from a copy ('recovered').
CREATE TABLE log_entries (
  log_id integer NOT NULL,
  entry_index bigint NOT NULL,
  entry bytea NOT NULL CHECK (length(entry) = 32),
  entry_id bytea CHECK (length(entry_id) = 16),
  kind text NOT NULL CHECK (kind IN ('key', 'audit', 'start', 'recovered')),
  PRIMARY KEY (log_id, entry_index)
);

CREATE UNIQUE INDEX log_entries_id ON log_entries (entry_id) WHERE entry_id IS NOT NULL;

-- Tiles of up to 256 hashes. Level 0 has only full tiles. Hashes do not compress.
CREATE TABLE log_tiles (
  log_id integer NOT NULL,
  level integer NOT NULL,
  tile_index bigint NOT NULL,
  hashes bytea NOT NULL CHECK (length(hashes) BETWEEN 32 AND 8192 AND length(hashes) % 32 = 0),
  PRIMARY KEY (log_id, level, tile_index)
);
ALTER TABLE log_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;

-- Entries that a turn refused. set_aside_id is random: nothing here may stop a turn.
CREATE TABLE log_set_aside (
  set_aside_id bytea PRIMARY KEY DEFAULT uuid_send(gen_random_uuid()),
  entry_id bytea NOT NULL,
  log_id integer NOT NULL,
  kind text NOT NULL,
  entry bytea NOT NULL,
  mac bytea NOT NULL,
  secret_version integer NOT NULL,
  noted_ms bigint NOT NULL
);

-- Administrative actions. details is canonical JSON (RFC 8785).
CREATE TABLE audit (
  audit_id bytea PRIMARY KEY CHECK (length(audit_id) = 16),
  at_ms bigint NOT NULL,
  action text NOT NULL,
  details text NOT NULL,
  salt bytea NOT NULL CHECK (length(salt) = 32)
);

CREATE INDEX audit_action ON audit (action, audit_id);

-- Like write_batch_4, but also writes the receipt columns and the pending entry of each key. Writes a batch in
-- one statement and returns the decision: the usage of each account and month before the batch with its quota,
-- the positions of repeated keys, and the number of committed requests. Requests are decided in order of
-- position. A repeated key uses no place of a quota. `holders` are the accounts of the requests. Failed requests
-- wait for no lock: those of a locked account are left out and the account is returned in `deferred`. Sequential
-- scans are off, because the plan is kept and must not be one that suits an empty ledger.
CREATE FUNCTION write_batch_5(of_writer uuid, at_turn bigint, holders text[],
  metered_requests json, failed_requests json, quotas jsonb) RETURNS json
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  this_month CONSTANT integer := ledger_month();
  locked text[] := '{}';
  unknown text;
  wanted bigint;
  written bigint;
  answer json;
BEGIN
  -- A transaction that changes an account's counter or sums holds its row. All lock in one order, so there is
  -- no deadlock. The statements that follow see what earlier holders have committed.
  PERFORM FROM accounts WHERE account_id = ANY (holders) ORDER BY account_id FOR NO KEY UPDATE;
  IF json_array_length(failed_requests) > 0 THEN
    WITH failed AS MATERIALIZED (
      SELECT DISTINCT account_id FROM json_to_recordset(failed_requests) AS f (account_id text)
    ), free AS MATERIALIZED (
      SELECT account_id FROM accounts WHERE account_id IN (SELECT account_id FROM failed)
      FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT coalesce(array_agg(account_id), '{}') INTO locked
    FROM failed JOIN accounts USING (account_id) WHERE account_id NOT IN (SELECT account_id FROM free);
  END IF;

  WITH request AS MATERIALIZED (
    SELECT this_month AS month, r.* FROM json_to_recordset(metered_requests) AS r (
      position integer, account_id text, api_key_id text, at_ms bigint,
      streams bigint, streams_passed bigint, key_id bytea, fingerprint bigint, commitment bytea,
      secret_version integer, security_level integer, modulation text, source text,
      created_ms bigint, latency_us bigint, entropy_bits double precision, entropy_job_id text,
      latency_bucket integer, gate_p double precision, tests_passed integer, total_tests integer,
      p_values bytea, evidence_definition smallint, key_commitment bytea, salt bytea,
      strength_bits integer, sources text, software_id integer, log_id integer, entry bytea,
      mac bytea, mac_version integer)
  ), failure AS MATERIALIZED (
    SELECT * FROM json_to_recordset(failed_requests) AS f (
      account_id text, at_ms bigint, streams bigint, streams_passed bigint)
    WHERE account_id <> ALL (locked)
  ), counter AS MATERIALIZED (
    SELECT asked.account_id, asked.month, coalesce(usage.used, 0) AS used,
      (quotas->>accounts.plan)::bigint AS quota,
      coalesce(quotas ? accounts.plan, false) AS has_plan
    FROM (SELECT DISTINCT account_id, month FROM request) AS asked
    LEFT JOIN accounts USING (account_id)
    LEFT JOIN usage USING (account_id, month)
  ), judged AS MATERIALIZED (
    SELECT request.*, counter.used, counter.quota,
      request.key_id IS NOT NULL AND (earlier.found IS NOT NULL OR 1 < row_number() OVER (
        PARTITION BY request.commitment, request.secret_version ORDER BY request.position
      )) AS repeated
    FROM request
    JOIN counter USING (account_id, month)
    LEFT JOIN LATERAL (
      SELECT true AS found FROM ledger
      WHERE ledger.fingerprint = request.fingerprint AND ledger.commitment = request.commitment
        AND ledger.secret_version = request.secret_version
      LIMIT 1) AS earlier ON true
  ), placed AS MATERIALIZED (
    SELECT *, used + count(*) FILTER (WHERE NOT repeated) OVER (
        PARTITION BY account_id, month ORDER BY position
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS used_before
    FROM judged
  ), committed AS MATERIALIZED (
    SELECT * FROM placed WHERE NOT repeated AND (quota IS NULL OR used_before < quota)
  ), row_written AS (
    INSERT INTO ledger (key_id, fingerprint, commitment, secret_version, account_id, api_key_id,
      security_level, modulation, source, created_ms, latency_us, entropy_bits, entropy_job_id,
      gate_p, tests_passed, total_tests, evidence_definition, key_commitment, salt, strength_bits,
      sources, software_id)
    SELECT key_id, fingerprint, commitment, secret_version, account_id, api_key_id,
      security_level, modulation, source, created_ms, latency_us, entropy_bits, entropy_job_id,
      gate_p, tests_passed, total_tests, evidence_definition, key_commitment, salt, strength_bits,
      sources, software_id
    FROM committed WHERE key_id IS NOT NULL ORDER BY position
    -- No conflict target: each partition has its own index.
    ON CONFLICT DO NOTHING
    RETURNING 1
  ), validated_written AS (
    INSERT INTO validated_keys (account_id, key_id, p_values, evidence_definition)
    SELECT account_id, key_id, p_values, evidence_definition FROM committed WHERE p_values IS NOT NULL
  ), entry_written AS (
    INSERT INTO log_pending (entry_id, log_id, kind, entry, mac, secret_version)
    SELECT key_id, log_id, 'key', entry, mac, mac_version FROM committed WHERE entry IS NOT NULL
  ), usage_written AS (
    INSERT INTO usage (account_id, month, used)
    SELECT account_id, month, max(used) + count(*) FROM committed GROUP BY account_id, month
    ON CONFLICT (account_id, month) DO UPDATE SET used = excluded.used
  ), addition AS MATERIALIZED (
    SELECT account_id, at_ms, (key_id IS NOT NULL)::integer AS keys,
      coalesce(latency_us, 0) AS latency_us, latency_bucket, streams, streams_passed,
      1 AS metered, 0 AS failures
    FROM committed
    UNION ALL SELECT account_id, at_ms, 0, 0, NULL, streams, streams_passed, 0, 1 FROM failure
  ), minute_written AS (
    INSERT INTO rollup_minute AS kept (account_id, period, keys, latency_us, streams,
      streams_passed, metered, failures, latency_counts)
    SELECT account_id, at_ms / 60000, sum(keys), sum(latency_us), sum(streams),
      sum(streams_passed), sum(metered), sum(failures), count_buckets(array_agg(latency_bucket))
    FROM addition GROUP BY 1, 2
    ON CONFLICT (account_id, period) DO UPDATE SET
      keys = kept.keys + excluded.keys, latency_us = kept.latency_us + excluded.latency_us,
      streams = kept.streams + excluded.streams,
      streams_passed = kept.streams_passed + excluded.streams_passed,
      metered = kept.metered + excluded.metered, failures = kept.failures + excluded.failures,
      latency_counts = add_counts(kept.latency_counts, excluded.latency_counts)
  ), hour_written AS (
    INSERT INTO rollup_hour AS kept (account_id, period, keys, latency_us, streams,
      streams_passed, metered, failures, latency_counts)
    SELECT account_id, at_ms / 3600000, sum(keys), sum(latency_us), sum(streams),
      sum(streams_passed), sum(metered), sum(failures), count_buckets(array_agg(latency_bucket))
    FROM addition GROUP BY 1, 2
    ON CONFLICT (account_id, period) DO UPDATE SET
      keys = kept.keys + excluded.keys, latency_us = kept.latency_us + excluded.latency_us,
      streams = kept.streams + excluded.streams,
      streams_passed = kept.streams_passed + excluded.streams_passed,
      metered = kept.metered + excluded.metered, failures = kept.failures + excluded.failures,
      latency_counts = add_counts(kept.latency_counts, excluded.latency_counts)
  )
  SELECT
    (SELECT min(account_id) FROM counter WHERE NOT has_plan),
    (SELECT count(*) FROM committed WHERE key_id IS NOT NULL),
    (SELECT count(*) FROM row_written),
    json_build_object(
      'counters', (SELECT coalesce(json_agg(json_build_object('accountId', account_id,
        'month', month, 'used', used, 'quota', quota)), '[]') FROM counter),
      'repeated', (SELECT coalesce(json_agg(position), '[]') FROM judged WHERE repeated),
      'committed', (SELECT count(*) FROM committed),
      'deferred', to_json(locked))
  INTO unknown, wanted, written, answer;

  IF unknown IS NOT NULL THEN
    RAISE EXCEPTION 'account % is unknown or has a plan without a quota', unknown;
  END IF;
  -- Another server committed one of these keys after this statement began. The next attempt sees it.
  IF written <> wanted THEN
    RAISE EXCEPTION 'a key was committed elsewhere' USING ERRCODE = 'serialization_failure';
  END IF;
  UPDATE writers SET turn = at_turn, decision = answer, used_at = now()
  WHERE writer_id = of_writer AND turn < at_turn;
  IF NOT FOUND THEN
    PERFORM FROM writers WHERE writer_id = of_writer;
    IF FOUND THEN
      RAISE EXCEPTION 'this server has given this batch up';
    END IF;
    RAISE EXCEPTION 'the database does not know this server' USING ERRCODE = 'no_data_found';
  END IF;
  RETURN answer;
END $$;

-- Commits a batch. Servers call this function. It creates the partition of a key's month if it is missing, for
-- example because a server's clock is wrong. Usually the months are created ahead.
CREATE FUNCTION commit_batch_5(of_writer uuid, at_turn bigint, holders text[],
  metered_requests json, failed_requests json, quotas jsonb) RETURNS json
LANGUAGE plpgsql AS $$
BEGIN
  RETURN write_batch_5(of_writer, at_turn, holders, metered_requests, failed_requests, quotas);
EXCEPTION WHEN check_violation THEN
  PERFORM ensure_ledger_partition(at_ms)
  FROM (
    SELECT DISTINCT ('x' || encode(substring(key_id FOR 6), 'hex'))::bit(48)::bigint AS at_ms
    FROM json_to_recordset(metered_requests) AS r (key_id bytea) WHERE key_id IS NOT NULL
  ) AS asked;
  RETURN write_batch_5(of_writer, at_turn, holders, metered_requests, failed_requests, quotas);
END $$;

-- Like write_probe, with a pending entry. Writes what a key writes; the raised exception then rolls the block
-- back. With `room` it also fills a table of 4 MiB by fill_room.
CREATE FUNCTION write_probe_2(room boolean) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  now_ms CONSTANT bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  probe_id CONSTANT bytea := uuid_send(gen_random_uuid());
  probe_key CONSTANT bytea := decode(lpad(to_hex(now_ms), 12, '0'), 'hex') || substring(probe_id FROM 7);
  probe_commitment CONSTANT bytea := probe_id || uuid_send(gen_random_uuid());
  probe_fingerprint CONSTANT bigint := ('x' || encode(substring(probe_id FOR 8), 'hex'))::bit(64)::bigint;
  probe_account CONSTANT text := encode(probe_id, 'hex');
  month_table regclass;
  step text;
BEGIN
  step := 'the table ledger';
  PERFORM FROM ledger WHERE fingerprint = probe_fingerprint AND commitment = probe_commitment AND secret_version = 1;
  INSERT INTO ledger (key_id, fingerprint, commitment, secret_version, account_id, api_key_id, security_level,
    modulation, source, created_ms, latency_us, entropy_bits, key_commitment, salt, strength_bits, sources,
    software_id)
  VALUES (probe_key, probe_fingerprint, probe_commitment, 1, probe_account, probe_account, 256,
    'probe', 'probe', now_ms, 0, 0, probe_commitment, probe_commitment, 256, 'probe', 0)
  ON CONFLICT DO NOTHING
  RETURNING tableoid INTO month_table;
  step := 'the table validated_keys';
  INSERT INTO validated_keys (account_id, key_id, p_values) VALUES (probe_account, probe_key, '');
  step := 'the table log_pending';
  INSERT INTO log_pending (entry_id, log_id, kind, entry, mac, secret_version)
  VALUES (probe_key, 0, 'key', probe_commitment, probe_commitment, 1);
  step := 'the table usage';
  -- A month that does not exist, so that no commit waits for this row. Locked accounts are skipped: the lock
  -- of one account stops only commits that use it.
  INSERT INTO usage (account_id, month, used)
  SELECT account_id, -1 - (random() * 1e9)::integer, 0
  FROM (SELECT account_id FROM accounts LIMIT 1 FOR KEY SHARE SKIP LOCKED) AS one
  ON CONFLICT (account_id, month) DO UPDATE SET used = excluded.used;
  step := 'the table rollup_minute';
  INSERT INTO rollup_minute AS kept (account_id, period, keys, latency_us, streams, streams_passed, metered, failures)
  VALUES (probe_account, now_ms / 60000, 1, 0, 0, 0, 1, 0)
  ON CONFLICT (account_id, period) DO UPDATE SET keys = kept.keys + excluded.keys;
  step := 'the table rollup_hour';
  INSERT INTO rollup_hour AS kept (account_id, period, keys, latency_us, streams, streams_passed, metered, failures)
  VALUES (probe_account, now_ms / 3600000, 1, 0, 0, 0, 1, 0)
  ON CONFLICT (account_id, period) DO UPDATE SET keys = kept.keys + excluded.keys;
  IF room THEN
    PERFORM fill_room('commit_probe_' || probe_account, month_table);
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'PHMOK', MESSAGE = 'the probe is taken back';
EXCEPTION
  WHEN SQLSTATE 'PHMOK' THEN
    RETURN;
  WHEN lock_not_available THEN
    RAISE EXCEPTION 'another session locks %', step USING ERRCODE = 'lock_not_available';
END $$;

-- Shows whether a key could be recorded now. Servers call this function. It changes only the writer's number,
-- as a commit does, and creates the month's partition if it is missing, as `commit_batch_5` does. Returns true
-- if a row of `holders` is locked; these are accounts whose requests failed.
CREATE FUNCTION probe_commit_2(of_writer uuid, at_turn bigint, holders text[], room boolean) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
BEGIN
  BEGIN
    PERFORM write_probe_2(room);
  EXCEPTION WHEN check_violation THEN
    PERFORM ensure_ledger_partition(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    PERFORM write_probe_2(room);
  END;
  UPDATE writers SET turn = at_turn, decision = NULL, used_at = now()
  WHERE writer_id = of_writer AND turn < at_turn;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the database does not know this server' USING ERRCODE = 'no_data_found';
  END IF;
  RETURN cardinality(holders) > 0 AND are_locked(holders);
END $$;
