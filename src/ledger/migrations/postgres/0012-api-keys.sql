-- oldest-program: 8
-- Rules of API keys; see src/ledger/api-keys.ts. An older program accepts an API key whatever its rules. So the first API
-- key with a rule raises schema_version.oldest_program to 12.

-- NULL everywhere: an API key without rules. scopes and address_ranges are lists with commas. last_used_hour counts hours
-- since 1970. replaced_by names the API key that followed in a rotation, and counter_id the first one of such a chain:
-- the API keys of a chain share the counter of monthly_limit.
ALTER TABLE api_keys
  ADD COLUMN name text,
  ADD COLUMN scopes text,
  ADD COLUMN expires_ms bigint,
  ADD COLUMN address_ranges text,
  ADD COLUMN rate_per_second double precision,
  ADD COLUMN burst integer,
  ADD COLUMN monthly_limit bigint,
  ADD COLUMN last_used_hour integer,
  ADD COLUMN replaced_by text,
  ADD COLUMN counter_id text;

-- Metered requests of API keys with a monthly_limit, by the first API key of the chain and UTC calendar month. Its rows
-- change under the lock of the account's row. No foreign key: each commit would lock the API key.
CREATE TABLE api_key_usage (
  api_key_id text NOT NULL,
  month integer NOT NULL,
  used bigint NOT NULL CHECK (used >= 0),
  PRIMARY KEY (api_key_id, month)
);

-- Like decide_batch, with limits of API keys: a request with a counter must fit into its limit too. Returns the positions
-- of the requests to commit. Requests come by account, then in order.
CREATE FUNCTION decide_batch_2(positions integer[], accounts text[], units integer[], used_before bigint[],
  quotas bigint[], idempotency_keys text[], later boolean[], refused boolean[], counters text[], counted_before bigint[],
  limits bigint[]) RETURNS integer[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  committed integer[] := '{}';
  account text;
  used bigint;
  made text[];
  -- The counters of the account so far, and what each has counted.
  seen text[];
  counted bigint[];
  place integer;
BEGIN
  FOR i IN 1..coalesce(cardinality(positions), 0) LOOP
    IF accounts[i] IS DISTINCT FROM account THEN
      account := accounts[i];
      used := used_before[i];
      made := '{}';
      seen := '{}';
      counted := '{}';
    END IF;
    CONTINUE WHEN refused[i] OR used + units[i] > quotas[i];
    CONTINUE WHEN later[i] AND idempotency_keys[i] = ANY (made);
    IF counters[i] IS NOT NULL THEN
      place := array_position(seen, counters[i]);
      IF place IS NULL THEN
        seen := seen || counters[i];
        counted := counted || counted_before[i];
        place := cardinality(seen);
      END IF;
      CONTINUE WHEN counted[place] + units[i] > limits[i];
      counted[place] := counted[place] + units[i];
    END IF;
    committed := committed || positions[i];
    used := used + units[i];
    IF idempotency_keys[i] IS NOT NULL THEN
      made := made || idempotency_keys[i];
    END IF;
  END LOOP;
  RETURN committed;
END $$;

-- Like write_batch_7, with limits of API keys. A request may have several keys (`key_rows`, by position) and an Idempotency-Key
-- (`keyed_requests`, whose bodies are at `body_at` of `bodies`). All rows of a request are written, or none. Writes
-- a batch in one statement and returns the decision: the usage of each account and month before the batch with its
-- quota, the positions of requests with a stored record and of requests that repeat a key, and the number of
-- committed requests; and, apart from the decision, which `writers` keeps, the stored records. Requests are decided
-- in order of position. A replayed request and a repeated key use no place of a quota. `holders` are the accounts of
-- the requests. Failed requests wait for no lock: those of a locked account are left out and the account is returned
-- in `deferred`. Sequential scans are off, because the plan is kept and must not be one that suits an empty ledger.
CREATE FUNCTION write_batch_8(of_writer uuid, at_turn bigint, holders text[], metered_requests json, key_rows json,
  keyed_requests json, bodies text[], failed_requests json, quotas jsonb, OUT decision json, OUT answers json)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  this_month CONSTANT integer := ledger_month();
  now_ms CONSTANT bigint := ledger_clock_ms();
  has_keyed CONSTANT boolean := json_array_length(keyed_requests) > 0;
  locked text[] := '{}';
  answered integer[] := '{}';
  committed_positions integer[];
  unknown text;
  wanted bigint;
  written bigint;
  program integer;
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
  IF has_keyed THEN
    -- Looks into every slot: after a clock was set back, the record may be in tomorrow's. Only the same request gets
    -- the body.
    SELECT coalesce(array_agg(position), '{}'), json_agg(json_build_object('position', position,
      'requestHash', encode(kept.request_hash, 'hex'), 'keyIds', encode(kept.key_ids, 'hex'),
      'createdMs', kept.created_ms, 'body', CASE WHEN kept.request_hash = k.request_hash THEN kept.body END))
    INTO answered, answers
    FROM json_to_recordset(keyed_requests) AS k (position integer, account_id text, idempotency_key text,
      request_hash bytea)
    CROSS JOIN LATERAL (
      SELECT * FROM idempotency
      WHERE idempotency.account_id = k.account_id AND idempotency.idempotency_key = k.idempotency_key
        AND made_ms > now_ms - 86400000
      ORDER BY made_ms DESC LIMIT 1) AS kept;
  END IF;

  WITH request AS MATERIALIZED (
    SELECT this_month AS month, r.*, greatest(1, r.keys) AS units,
      has_keyed AND 1 < row_number() OVER (PARTITION BY account_id, idempotency_key ORDER BY position) AS later
    FROM json_to_recordset(metered_requests) AS r (
      position integer, account_id text, api_key_id text, at_ms bigint, keys integer,
      streams bigint, streams_passed bigint, idempotency_key text, counter_id text, api_key_limit bigint)
  ), key_row AS MATERIALIZED (
    SELECT * FROM json_to_recordset(key_rows) AS k (
      position integer, key_id bytea, fingerprint bigint, commitment bytea,
      secret_version integer, security_level integer, modulation text, source text,
      created_ms bigint, latency_us bigint, entropy_bits double precision, entropy_job_id text,
      latency_bucket integer, gate_p double precision, tests_passed integer, total_tests integer,
      p_values bytea, evidence_definition smallint, sealed_to bytea, sealed_digest bytea,
      key_commitment bytea, salt bytea, strength_bits integer, sources text, software_id integer,
      log_id integer, entry bytea, mac bytea, mac_version integer, labels text,
      expires_ms bigint)
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
  ), api_key_counter AS MATERIALIZED (
    SELECT asked.counter_id, asked.month, coalesce(api_key_usage.used, 0) AS api_key_used
    FROM (SELECT DISTINCT counter_id, month FROM request WHERE counter_id IS NOT NULL) AS asked
    LEFT JOIN api_key_usage ON api_key_usage.api_key_id = asked.counter_id AND api_key_usage.month = asked.month
  ), repeat AS MATERIALIZED (
    SELECT DISTINCT position FROM (
      SELECT key_row.position, earlier.found IS NOT NULL OR 1 < row_number() OVER (
          PARTITION BY key_row.commitment, key_row.secret_version ORDER BY key_row.position
        ) AS is_repeated
      FROM key_row
      LEFT JOIN LATERAL (
        SELECT true AS found FROM ledger
        WHERE ledger.fingerprint = key_row.fingerprint AND ledger.commitment = key_row.commitment
          AND ledger.secret_version = key_row.secret_version
        LIMIT 1) AS earlier ON true) AS judged
    WHERE is_repeated
  ), decided AS MATERIALIZED (
    SELECT unnest(decide_batch_2(array_agg(position ORDER BY account_id, position),
      array_agg(account_id ORDER BY account_id, position), array_agg(units ORDER BY account_id, position),
      array_agg(used ORDER BY account_id, position), array_agg(quota ORDER BY account_id, position),
      array_agg(idempotency_key ORDER BY account_id, position), array_agg(later ORDER BY account_id, position),
      array_agg(position = ANY (answered) OR repeat.position IS NOT NULL ORDER BY account_id, position),
      array_agg(counter_id ORDER BY account_id, position), array_agg(api_key_used ORDER BY account_id, position),
      array_agg(api_key_limit ORDER BY account_id, position))) AS position
    FROM request JOIN counter USING (account_id, month) LEFT JOIN repeat USING (position)
    LEFT JOIN api_key_counter USING (counter_id, month)
  ), committed AS MATERIALIZED (
    SELECT request.*, counter.used
    FROM decided JOIN request USING (position) JOIN counter USING (account_id, month)
  ), committed_key AS MATERIALIZED (
    SELECT key_row.*, committed.account_id, committed.api_key_id, committed.at_ms
    FROM key_row JOIN committed USING (position)
  ), row_written AS (
    INSERT INTO ledger (key_id, fingerprint, commitment, secret_version, account_id, api_key_id,
      security_level, modulation, source, created_ms, latency_us, entropy_bits, entropy_job_id,
      gate_p, tests_passed, total_tests, evidence_definition, sealed_to, sealed_digest, key_commitment, salt,
      strength_bits, sources, software_id, labels, expires_ms)
    SELECT key_id, fingerprint, commitment, secret_version, account_id, api_key_id,
      security_level, modulation, source, created_ms, latency_us, entropy_bits, entropy_job_id,
      gate_p, tests_passed, total_tests, evidence_definition, sealed_to, sealed_digest, key_commitment, salt,
      strength_bits, sources, software_id, labels, expires_ms
    FROM committed_key ORDER BY position, key_id
    -- No conflict target: each partition has its own index.
    ON CONFLICT DO NOTHING
    RETURNING 1
  ), validated_written AS (
    INSERT INTO validated_keys (account_id, key_id, p_values, evidence_definition)
    SELECT account_id, key_id, p_values, evidence_definition FROM committed_key WHERE p_values IS NOT NULL
  ), expiry_written AS (
    INSERT INTO key_states (key_id, account_id, fingerprint, commitment, secret_version, expires_ms)
    SELECT key_id, account_id, fingerprint, commitment, secret_version, expires_ms
    FROM committed_key WHERE expires_ms IS NOT NULL
  ), entry_written AS (
    INSERT INTO log_pending (entry_id, log_id, kind, entry, mac, secret_version)
    SELECT key_id, log_id, 'key', entry, mac, mac_version FROM committed_key WHERE entry IS NOT NULL
  ), usage_written AS (
    INSERT INTO usage (account_id, month, used)
    SELECT account_id, month, max(used) + sum(units) FROM committed GROUP BY account_id, month
    ON CONFLICT (account_id, month) DO UPDATE SET used = excluded.used
  ), api_key_usage_written AS (
    INSERT INTO api_key_usage (api_key_id, month, used)
    SELECT counter_id, month, max(api_key_used) + sum(units)
    FROM committed JOIN api_key_counter USING (counter_id, month) GROUP BY counter_id, month
    ON CONFLICT (api_key_id, month) DO UPDATE SET used = excluded.used
  ), addition AS MATERIALIZED (
    SELECT account_id, at_ms, 1 AS keys, latency_us, latency_bucket, 0 AS streams, 0 AS streams_passed,
      0 AS metered, 0 AS failures
    FROM committed_key
    UNION ALL SELECT account_id, at_ms, 0, 0, NULL, streams, streams_passed, units, 0 FROM committed
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
    (SELECT count(*) FROM committed_key),
    (SELECT count(*) FROM row_written),
    (SELECT max(CASE WHEN labels IS NOT NULL OR expires_ms IS NOT NULL THEN 11 WHEN sealed_to IS NOT NULL THEN 10 END)
      FROM committed_key),
    (SELECT array_agg(position) FROM decided),
    json_build_object(
      'counters', (SELECT coalesce(json_agg(json_build_object('accountId', account_id,
        'month', month, 'used', used, 'quota', quota)), '[]') FROM counter),
      'apiKeyCounters', (SELECT coalesce(json_agg(json_build_object('counterId', counter_id, 'used', api_key_used)), '[]')
        FROM api_key_counter),
      'answered', to_json(answered),
      'repeated', (SELECT coalesce(json_agg(position), '[]') FROM repeat),
      'committed', (SELECT count(*) FROM decided),
      'deferred', to_json(locked))
  INTO unknown, wanted, written, program, committed_positions, decision;

  IF unknown IS NOT NULL THEN
    RAISE EXCEPTION 'account % is unknown or has a plan without a quota', unknown;
  END IF;
  -- Another server committed one of these keys after this statement began. The next attempt sees it.
  IF written <> wanted THEN
    RAISE EXCEPTION 'a key was committed elsewhere' USING ERRCODE = 'serialization_failure';
  END IF;
  IF has_keyed THEN
    WITH record AS MATERIALIZED (
      SELECT k.*, (now_ms / 86400000 % 3)::smallint AS slot, bodies[body_at] AS body
      FROM json_to_recordset(keyed_requests) AS k (position integer, account_id text, idempotency_key text,
        request_hash bytea, key_ids bytea, created_ms bigint, body_at integer)
      WHERE position = ANY (committed_positions)
    ), record_written AS (
      INSERT INTO idempotency AS kept (slot, account_id, idempotency_key, made_ms, request_hash, key_ids, created_ms,
        body)
      SELECT slot, account_id, idempotency_key, now_ms, request_hash, key_ids, created_ms, body FROM record
      -- An expired record may still be there.
      ON CONFLICT (account_id, idempotency_key, slot) DO UPDATE SET made_ms = excluded.made_ms,
        request_hash = excluded.request_hash, key_ids = excluded.key_ids, created_ms = excluded.created_ms,
        body = excluded.body
      WHERE kept.made_ms <= now_ms - 86400000
      RETURNING 1
    )
    SELECT (SELECT count(*) FROM record), (SELECT count(*) FROM record_written) INTO wanted, written;
    IF written <> wanted THEN
      RAISE EXCEPTION 'a request was committed elsewhere' USING ERRCODE = 'serialization_failure';
    END IF;
    UPDATE idempotency_slots SET newest_day = now_ms / 86400000
    WHERE slot = now_ms / 86400000 % 3 AND newest_day < now_ms / 86400000;
  END IF;
  IF program IS NOT NULL THEN
    UPDATE schema_version SET oldest_program = program WHERE oldest_program < program;
  END IF;
  UPDATE writers SET turn = at_turn, decision = write_batch_8.decision, used_at = now()
  WHERE writer_id = of_writer AND turn < at_turn;
  IF NOT FOUND THEN
    PERFORM FROM writers WHERE writer_id = of_writer;
    IF FOUND THEN
      RAISE EXCEPTION 'this server has given this batch up';
    END IF;
    RAISE EXCEPTION 'the database does not know this server' USING ERRCODE = 'no_data_found';
  END IF;
END $$;

-- Commits a batch. Servers call this function. It creates the partition of a key's month if it is missing, for
-- example because a server's clock is wrong. Usually the months are created ahead.
CREATE FUNCTION commit_batch_8(of_writer uuid, at_turn bigint, holders text[], metered_requests json, key_rows json,
  keyed_requests json, bodies text[], failed_requests json, quotas jsonb, OUT decision json, OUT answers json)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT * INTO decision, answers FROM write_batch_8(of_writer, at_turn, holders, metered_requests, key_rows,
    keyed_requests, bodies, failed_requests, quotas);
EXCEPTION WHEN check_violation THEN
  PERFORM ensure_ledger_partition(at_ms)
  FROM (
    SELECT DISTINCT ('x' || encode(substring(key_id FOR 6), 'hex'))::bit(48)::bigint AS at_ms
    FROM json_to_recordset(key_rows) AS r (key_id bytea)
  ) AS asked;
  SELECT * INTO decision, answers FROM write_batch_8(of_writer, at_turn, holders, metered_requests, key_rows,
    keyed_requests, bodies, failed_requests, quotas);
END $$;

-- Like write_probe_4, with the usage of an API key. Writes what a key writes; the
-- raised exception then rolls the block back. With `room` it also fills a table of 4 MiB by fill_room.
CREATE FUNCTION write_probe_5(room boolean) RETURNS void
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
    modulation, source, created_ms, latency_us, entropy_bits, sealed_to, sealed_digest, key_commitment, salt,
    strength_bits, sources, software_id, labels, expires_ms)
  VALUES (probe_key, probe_fingerprint, probe_commitment, 1, probe_account, probe_account, 256,
    'probe', 'probe', now_ms, 0, 0, probe_commitment, probe_commitment, probe_commitment, probe_commitment, 256,
    'probe', 0, '{}', now_ms)
  ON CONFLICT DO NOTHING
  RETURNING tableoid INTO month_table;
  step := 'the table validated_keys';
  INSERT INTO validated_keys (account_id, key_id, p_values) VALUES (probe_account, probe_key, '');
  step := 'the table key_states';
  INSERT INTO key_states (key_id, account_id, fingerprint, commitment, secret_version, expires_ms)
  VALUES (probe_key, probe_account, probe_fingerprint, probe_commitment, 1, now_ms);
  step := 'the table log_pending';
  INSERT INTO log_pending (entry_id, log_id, kind, entry, mac, secret_version)
  VALUES (probe_key, 0, 'key', probe_commitment, probe_commitment, 1);
  step := 'the table idempotency';
  PERFORM FROM idempotency WHERE account_id = probe_account AND idempotency_key = 'probe';
  INSERT INTO idempotency (slot, account_id, idempotency_key, made_ms, request_hash, key_ids, created_ms, body)
  VALUES (ledger_clock_ms() / 86400000 % 3, probe_account, 'probe', now_ms, probe_commitment, probe_key, now_ms, '')
  ON CONFLICT (account_id, idempotency_key, slot) DO UPDATE SET body = excluded.body;
  step := 'the table usage';
  -- A month that does not exist, so that no commit waits for this row. Locked accounts are skipped: the lock
  -- of one account stops only commits that use it.
  INSERT INTO usage (account_id, month, used)
  SELECT account_id, -1 - (random() * 1e9)::integer, 0
  FROM (SELECT account_id FROM accounts LIMIT 1 FOR KEY SHARE SKIP LOCKED) AS one
  ON CONFLICT (account_id, month) DO UPDATE SET used = excluded.used;
  step := 'the table api_key_usage';
  INSERT INTO api_key_usage (api_key_id, month, used) VALUES (probe_account, 0, 1)
  ON CONFLICT (api_key_id, month) DO UPDATE SET used = excluded.used;
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
-- as a commit does, and creates the month's partition if it is missing, as `commit_batch_8` does. Returns true
-- if a row of `holders` is locked; these are accounts whose requests failed.
CREATE FUNCTION probe_commit_5(of_writer uuid, at_turn bigint, holders text[], room boolean) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
BEGIN
  BEGIN
    PERFORM write_probe_5(room);
  EXCEPTION WHEN check_violation THEN
    PERFORM ensure_ledger_partition(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    PERFORM write_probe_5(room);
  END;
  UPDATE writers SET turn = at_turn, decision = NULL, used_at = now()
  WHERE writer_id = of_writer AND turn < at_turn;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the database does not know this server' USING ERRCODE = 'no_data_found';
  END IF;
  RETURN cardinality(holders) > 0 AND are_locked(holders);
END $$;
