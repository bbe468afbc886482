-- oldest-program: 14
-- Commits write whatever columns `ledger` has, and the batch says which programs its rows need. So a migration that adds a column
-- to `ledger` needs no functions of its own: it ends with SELECT make_write_batch_12().

-- Makes `write_batch_12` for the columns that `ledger` has now. A session calls the new one from its next batch on. Calls that do
-- not name a column leave it NULL, never at its default, so servers from before the column work on. Made ahead, because a list of
-- columns that is put together in each batch would be planned in each.
CREATE FUNCTION make_write_batch_12() RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
  columns text;
  typed_columns text;
  taken text;
BEGIN
  -- Otherwise the migration would succeed, and the next commit would fail.
  SELECT attname INTO taken FROM pg_attribute WHERE attrelid = 'ledger'::regclass AND NOT attisdropped AND attname IN
    ('position', 'needs', 'latency_bucket', 'p_values', 'log_id', 'entry', 'mac', 'mac_version', 'at_ms');
  IF taken IS NOT NULL THEN
    RAISE EXCEPTION 'a column of ledger cannot have the name %, which write_batch_12 uses', taken;
  END IF;
  -- The columns of the request are not in `key_rows`. Columns of others, with a default, keep it.
  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
    string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum)
  INTO columns, typed_columns FROM pg_attribute
  WHERE attrelid = 'ledger'::regclass AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('account_id', 'api_key_id')
    AND NOT atthasdef AND attidentity = '';
  EXECUTE replace(replace($body$
-- Writes a batch in one statement and returns the decision: the usage of each account and month before the batch with its
-- quota, the positions of requests with a stored record and of requests that repeat a key, and the number of
-- committed requests; and, apart from the decision, which `writers` keeps, the stored records. A request may have several
-- keys (`key_rows`, by position) and an Idempotency-Key (`keyed_requests`, whose bodies are at `body_at` of `bodies`). All
-- rows of a request are written, or none; a batch of which rows are dropped is refused. Requests are decided in order of
-- position. A replayed request and a repeated key use no place of a quota. `holders` are the accounts of the requests.
-- Requests of locked accounts are left out, and the accounts are returned in `deferred`. None of `busy` is waited for, nor
-- any account for failed requests. Sequential scans are off, because the plan is kept and must not be one that suits an empty
-- ledger.
--
-- `needs` of a key and of a delivery is the version of the oldest programs that can work with its rows; 0: all. A ledger
-- whose schema is older than `of_schema`, the caller's, is refused: it may lack a column of the rows.
CREATE OR REPLACE FUNCTION write_batch_12(of_writer uuid, at_turn bigint, of_schema integer, holders text[],
  metered_requests json, key_rows json, keyed_requests json, bodies text[], failed_requests json, quotas jsonb, busy text[],
  delivery_rows json, box_rows json, copy_rows json, texts text[], OUT decision json, OUT answers json)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  this_month CONSTANT integer := ledger_month();
  now_ms CONSTANT bigint := ledger_clock_ms();
  has_keyed CONSTANT boolean := json_array_length(keyed_requests) > 0;
  locked text[];
  has_deliveries CONSTANT boolean := json_array_length(delivery_rows) > 0;
  refusals json;
  locked_failures text[] := '{}';
  answered integer[] := '{}';
  committed_positions integer[];
  unknown text;
  wanted bigint;
  written bigint;
  program integer;
  short text;
BEGIN
  -- A transaction that changes an account's counter or sums holds its row. The statements that follow see what earlier
  -- holders have committed.
  locked := lock_accounts(holders, busy, this_month);
  IF json_array_length(failed_requests) > 0 THEN
    WITH failed AS MATERIALIZED (
      SELECT DISTINCT account_id FROM json_to_recordset(failed_requests) AS f (account_id text)
    ), free AS MATERIALIZED (
      SELECT account_id FROM accounts WHERE account_id IN (SELECT account_id FROM failed)
      FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT coalesce(array_agg(account_id), '{}') INTO locked_failures
    FROM failed JOIN accounts USING (account_id) WHERE account_id NOT IN (SELECT account_id FROM free);
    locked := locked || locked_failures;
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

  IF has_deliveries THEN
    PERFORM sweep_box(account_id, recipient, now_ms, 2 * sum(copies)::bigint + 100)
    FROM json_to_recordset(box_rows) AS b (account_id text, recipient text, copies bigint)
    WHERE account_id <> ALL (locked) GROUP BY account_id, recipient;
    refusals := refuse_deliveries(delivery_rows, box_rows, now_ms);
  END IF;

  WITH request AS MATERIALIZED (
    SELECT this_month AS month, r.*, greatest(1, r.keys) AS units,
      has_keyed AND 1 < row_number() OVER (PARTITION BY account_id, idempotency_key ORDER BY position) AS later
    FROM json_to_recordset(metered_requests) AS r (
      position integer, account_id text, api_key_id text, at_ms bigint, keys integer,
      streams bigint, streams_passed bigint, idempotency_key text, counter_id text, api_key_limit bigint)
    WHERE account_id <> ALL (locked)
  ), key_row AS MATERIALIZED (
    SELECT * FROM json_to_recordset(key_rows) AS k (
      position integer, needs integer, latency_bucket integer, p_values bytea, log_id integer, entry bytea, mac bytea,
      mac_version integer, {typed columns})
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
      array_agg(position = ANY (answered) OR repeat.position IS NOT NULL OR position IN (
        SELECT position FROM json_to_recordset(refusals) AS r (position integer)) ORDER BY account_id, position),
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
    INSERT INTO ledger (account_id, api_key_id, {columns})
    SELECT account_id, api_key_id, {columns}
    FROM committed_key ORDER BY position, key_id
    -- No conflict target: each partition has its own index.
    ON CONFLICT DO NOTHING
    RETURNING 1
  ), validated_written AS (
    INSERT INTO validated_keys (account_id, key_id, p_values, evidence_definition)
    SELECT account_id, key_id, p_values, evidence_definition FROM committed_key WHERE p_values IS NOT NULL
    RETURNING 1
  ), expiry_written AS (
    INSERT INTO key_states (key_id, account_id, fingerprint, commitment, secret_version, expires_ms)
    SELECT key_id, account_id, fingerprint, commitment, secret_version, expires_ms
    FROM committed_key WHERE expires_ms IS NOT NULL
    RETURNING 1
  ), entry_written AS (
    INSERT INTO log_pending (entry_id, log_id, kind, entry, mac, secret_version)
    SELECT key_id, log_id, 'key', entry, mac, mac_version FROM committed_key WHERE entry IS NOT NULL
    RETURNING 1
  ), usage_written AS (
    INSERT INTO usage (account_id, month, used)
    SELECT account_id, month, max(used) + sum(units) FROM committed GROUP BY account_id, month
    ON CONFLICT (account_id, month) DO UPDATE SET used = excluded.used
    RETURNING 1
  ), api_key_usage_written AS (
    INSERT INTO api_key_usage (api_key_id, month, used)
    SELECT counter_id, month, max(api_key_used) + sum(units)
    FROM committed JOIN api_key_counter USING (counter_id, month) GROUP BY counter_id, month
    ON CONFLICT (api_key_id, month) DO UPDATE SET used = excluded.used
    RETURNING 1
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
    RETURNING 1
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
    RETURNING 1
  )
  SELECT
    (SELECT min(account_id) FROM counter WHERE NOT has_plan),
    (SELECT count(*) FROM committed_key),
    (SELECT count(*) FROM row_written),
    (SELECT max(needs) FROM committed_key),
    (SELECT array_agg(position) FROM decided),
    (SELECT min(name) FROM (VALUES
      ('validated_keys', (SELECT count(*) FROM committed_key WHERE p_values IS NOT NULL),
        (SELECT count(*) FROM validated_written)),
      ('key_states', (SELECT count(*) FROM committed_key WHERE expires_ms IS NOT NULL),
        (SELECT count(*) FROM expiry_written)),
      ('log_pending', (SELECT count(*) FROM committed_key WHERE entry IS NOT NULL), (SELECT count(*) FROM entry_written)),
      ('usage', (SELECT count(DISTINCT account_id) FROM committed), (SELECT count(*) FROM usage_written)),
      ('api_key_usage', (SELECT count(DISTINCT counter_id) FROM committed), (SELECT count(*) FROM api_key_usage_written)),
      ('rollup_minute', (SELECT count(*) FROM (SELECT DISTINCT account_id, at_ms / 60000 FROM addition) AS one),
        (SELECT count(*) FROM minute_written)),
      ('rollup_hour', (SELECT count(*) FROM (SELECT DISTINCT account_id, at_ms / 3600000 FROM addition) AS one),
        (SELECT count(*) FROM hour_written))) AS part (name, wanted, written)
      WHERE part.wanted <> part.written),
    json_build_object(
      'counters', (SELECT coalesce(json_agg(json_build_object('accountId', account_id,
        'month', month, 'used', used, 'quota', quota)), '[]') FROM counter),
      'apiKeyCounters', (SELECT coalesce(json_agg(json_build_object('counterId', counter_id, 'used', api_key_used)), '[]')
        FROM api_key_counter),
      'answered', to_json(answered),
      'repeated', (SELECT coalesce(json_agg(position), '[]') FROM repeat),
      'committed', (SELECT count(*) FROM decided),
      'refusals', coalesce(refusals, '[]'),
      'deferred', to_json(locked))
  INTO unknown, wanted, written, program, committed_positions, short, decision;

  IF unknown IS NOT NULL THEN
    RAISE EXCEPTION 'account % is unknown or has a plan without a quota', unknown;
  END IF;
  -- Another server committed one of these keys after this statement began. The next attempt sees it.
  IF written <> wanted THEN
    RAISE EXCEPTION 'a key was committed elsewhere' USING ERRCODE = 'serialization_failure';
  END IF;
  PERFORM require_written(short, 1, 0) WHERE short IS NOT NULL;
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
  IF has_deliveries THEN
    PERFORM write_deliveries(committed_positions, delivery_rows, copy_rows, texts);
    SELECT greatest(program, max(needs)) INTO program
    FROM json_to_recordset(delivery_rows) AS d (position integer, needs integer) WHERE position = ANY (committed_positions);
  END IF;
  IF EXISTS (SELECT FROM schema_version WHERE version < of_schema OR oldest_program < program) THEN
    IF EXISTS (SELECT FROM schema_version WHERE version < of_schema) THEN
      RAISE EXCEPTION 'the ledger has a schema older than %, that of this server', of_schema;
    END IF;
    UPDATE schema_version SET oldest_program = program WHERE oldest_program < program;
  END IF;
  UPDATE writers SET turn = at_turn, decision = write_batch_12.decision, used_at = now()
  WHERE writer_id = of_writer AND turn < at_turn;
  IF NOT FOUND THEN
    PERFORM FROM writers WHERE writer_id = of_writer;
    IF FOUND THEN
      RAISE EXCEPTION 'this server has given this batch up';
    END IF;
    RAISE EXCEPTION 'the database does not know this server' USING ERRCODE = 'no_data_found';
  END IF;
END $$; $body$, '{columns}', columns), '{typed columns}', typed_columns);
END $make$;

SELECT make_write_batch_12();

-- Commits a batch. Servers call this function. It creates the partition of a key's month if it is missing, for
-- example because a server's clock is wrong. Usually the months are created ahead.
CREATE FUNCTION commit_batch_12(of_writer uuid, at_turn bigint, of_schema integer, holders text[],
  metered_requests json, key_rows json, keyed_requests json, bodies text[], failed_requests json, quotas jsonb, busy text[],
  delivery_rows json, box_rows json, copy_rows json, texts text[], OUT decision json, OUT answers json)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT * INTO decision, answers FROM write_batch_12(of_writer, at_turn, of_schema, holders, metered_requests, key_rows,
    keyed_requests, bodies, failed_requests, quotas, busy, delivery_rows, box_rows, copy_rows, texts);
EXCEPTION WHEN check_violation THEN
  PERFORM ensure_ledger_partition(at_ms)
  FROM (
    SELECT DISTINCT ('x' || encode(substring(key_id FOR 6), 'hex'))::bit(48)::bigint AS at_ms
    FROM json_to_recordset(key_rows) AS r (key_id bytea)
  ) AS asked;
  SELECT * INTO decision, answers FROM write_batch_12(of_writer, at_turn, of_schema, holders, metered_requests, key_rows,
    keyed_requests, bodies, failed_requests, quotas, busy, delivery_rows, box_rows, copy_rows, texts);
END $$;
