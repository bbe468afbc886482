-- The number of latencies in each bucket of src/ledger/latency.ts, separated by commas. NULL: none was
-- counted. Programs that do not know the column omit their keys.
ALTER TABLE rollup_minute ADD COLUMN latency_counts text;
ALTER TABLE rollup_hour ADD COLUMN latency_counts text;

-- The p-values of the suite on the sample of a validated key, in units of 10^-9, each 4 bytes, lowest byte
-- first. All ones: the test did not apply. A separate table by account: in `ledger` they would need an index
-- in each month, existing ones included, and most keys have none.
CREATE TABLE validated_keys (
  account_id text NOT NULL,
  key_id bytea NOT NULL CHECK (length(key_id) = 16),
  p_values bytea NOT NULL,
  PRIMARY KEY (account_id, key_id)
);

-- Counts the values of a list of buckets, which may hold NULL. Returns NULL for none.
CREATE FUNCTION count_buckets(buckets integer[]) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  counts bigint[] := '{0}';
  bucket integer;
  found boolean := false;
BEGIN
  FOREACH bucket IN ARRAY buckets LOOP
    CONTINUE WHEN bucket IS NULL;
    counts[bucket + 1] := coalesce(counts[bucket + 1], 0) + 1;
    found := true;
  END LOOP;
  RETURN CASE WHEN found THEN array_to_string(counts, ',', '0') END;
END $$;

-- Adds two lists of counts; NULL counts nothing.
CREATE FUNCTION add_counts(kept text, more text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  counts bigint[] := string_to_array(kept, ',');
  added bigint[] := string_to_array(more, ',');
BEGIN
  IF kept IS NULL OR more IS NULL THEN
    RETURN coalesce(kept, more);
  END IF;
  FOR bucket IN 1..cardinality(added) LOOP
    counts[bucket] := coalesce(counts[bucket], 0) + added[bucket];
  END LOOP;
  RETURN array_to_string(counts, ',');
END $$;

-- Like write_batch, but also counts latencies and keeps p-values. Writes a batch in one statement and returns
-- the decision: the usage of each account and month before the batch with its quota, the positions of repeated
-- keys, and the number of committed requests. Requests are decided in order of position. A repeated key uses
-- no place of a quota. `holders` are the accounts of requests and failures. Sequential scans are off, because
-- the plan is kept and must not be one that suits an empty ledger.
CREATE FUNCTION write_batch_2(of_writer uuid, at_turn bigint, holders text[],
  metered_requests json, failed_requests json, quotas jsonb) RETURNS json
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  unknown text;
  wanted bigint;
  written bigint;
  answer json;
BEGIN
  -- A transaction that changes an account's counter or sums holds its row. All lock in one order, so there is
  -- no deadlock. The statements that follow see what earlier holders have committed.
  PERFORM FROM accounts WHERE account_id = ANY (holders) ORDER BY account_id FOR NO KEY UPDATE;

  WITH request AS MATERIALIZED (
    SELECT * FROM json_to_recordset(metered_requests) AS r (
      position integer, account_id text, api_key_id text, at_ms bigint, month integer,
      streams bigint, streams_passed bigint, key_id bytea, fingerprint bigint, commitment bytea,
      secret_version integer, security_level integer, modulation text, source text,
      created_ms bigint, latency_us bigint, entropy_bits double precision, entropy_job_id text,
      latency_bucket integer, gate_p double precision, tests_passed integer, total_tests integer,
      p_values bytea)
  ), failure AS MATERIALIZED (
    SELECT * FROM json_to_recordset(failed_requests) AS f (
      account_id text, at_ms bigint, streams bigint, streams_passed bigint)
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
      gate_p, tests_passed, total_tests)
    SELECT key_id, fingerprint, commitment, secret_version, account_id, api_key_id,
      security_level, modulation, source, created_ms, latency_us, entropy_bits, entropy_job_id,
      gate_p, tests_passed, total_tests
    FROM committed WHERE key_id IS NOT NULL ORDER BY position
    -- No conflict target: each partition has its own index.
    ON CONFLICT DO NOTHING
    RETURNING 1
  ), validated_written AS (
    INSERT INTO validated_keys (account_id, key_id, p_values)
    SELECT account_id, key_id, p_values FROM committed WHERE p_values IS NOT NULL
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
      'committed', (SELECT count(*) FROM committed))
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
CREATE FUNCTION commit_batch_2(of_writer uuid, at_turn bigint, holders text[],
  metered_requests json, failed_requests json, quotas jsonb) RETURNS json
LANGUAGE plpgsql AS $$
BEGIN
  RETURN write_batch_2(of_writer, at_turn, holders, metered_requests, failed_requests, quotas);
EXCEPTION WHEN check_violation THEN
  PERFORM ensure_ledger_partition(at_ms)
  FROM (
    SELECT DISTINCT ('x' || encode(substring(key_id FOR 6), 'hex'))::bit(48)::bigint AS at_ms
    FROM json_to_recordset(metered_requests) AS r (key_id bytea) WHERE key_id IS NOT NULL
  ) AS asked;
  RETURN write_batch_2(of_writer, at_turn, holders, metered_requests, failed_requests, quotas);
END $$;
