-- Accounts and their API keys. An API key is stored only as the SHA-256 of its text.
CREATE TABLE accounts (
  account_id text PRIMARY KEY,
  name text NOT NULL,
  plan text NOT NULL,
  demo boolean NOT NULL,
  created_ms bigint NOT NULL
);

CREATE TABLE api_keys (
  api_key_id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (account_id),
  key_hash bytea NOT NULL UNIQUE CHECK (length(key_hash) = 32),
  hint text NOT NULL,
  created_ms bigint NOT NULL,
  revoked_ms bigint
);

CREATE INDEX api_keys_account ON api_keys (account_id);

-- Metered requests by account and UTC calendar month (months since year 0).
CREATE TABLE usage (
  account_id text NOT NULL REFERENCES accounts (account_id),
  month integer NOT NULL,
  used bigint NOT NULL CHECK (used >= 0),
  PRIMARY KEY (account_id, month)
);

-- One row per generated key, in time order: key_id is a UUIDv7, whose first 48 bits are milliseconds. No
-- column holds key bytes. The commitment is a keyed digest, and fingerprint is its first 64 bits. Each month
-- of UTC is a partition, which can be dropped whole when it is out of date.
CREATE TABLE ledger (
  key_id bytea PRIMARY KEY CHECK (length(key_id) = 16),
  fingerprint bigint NOT NULL,
  commitment bytea NOT NULL CHECK (length(commitment) = 32),
  secret_version integer NOT NULL,
  account_id text NOT NULL,
  api_key_id text NOT NULL,
  security_level integer NOT NULL CHECK (security_level IN (128, 256, 384)),
  modulation text NOT NULL,
  source text NOT NULL,
  created_ms bigint NOT NULL,
  latency_us bigint NOT NULL,
  entropy_bits double precision NOT NULL,
  entropy_job_id text,
  gate_p double precision,
  tests_passed integer,
  total_tests integer
) PARTITION BY RANGE (key_id);

-- Creates the partition of a month if it is missing. Each partition has its own index of commitments, because
-- an index over all of them would have to include key_id. The index is unique: two servers that commit the
-- same key at the same moment do not see each other's rows. Unlike CREATE TABLE … PARTITION OF, ATTACH waits
-- for no running command and blocks none. An advisory lock ("phm part" in ASCII) admits one caller at a time.
CREATE FUNCTION ensure_ledger_partition(at_ms bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  starts timestamp := date_trunc('month', to_timestamp(at_ms / 1000) AT TIME ZONE 'UTC');
  partition text := 'ledger_' || to_char(starts, 'YYYYMM');
  bounds text[];
BEGIN
  IF at_ms NOT BETWEEN 0 AND 253402300799999 THEN
    RAISE EXCEPTION 'the time % ms is not within the years 1970 to 9999', at_ms;
  END IF;
  FOR turn IN 1..2 LOOP
    PERFORM FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'ledger'::regclass AND relname = partition;
    IF FOUND THEN
      RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(8099843915917652596);
  END LOOP;
  SELECT array_agg('\x' || lpad(to_hex((extract(epoch FROM bound) * 1000)::bigint), 12, '0') ORDER BY bound)
  INTO bounds FROM unnest(ARRAY[starts, starts + interval '1 month']) AS bound;
  EXECUTE format('CREATE TABLE %I (LIKE ledger INCLUDING ALL)', partition);
  EXECUTE format('CREATE UNIQUE INDEX %I ON %I (fingerprint, commitment, secret_version)',
    partition || '_commitment', partition);
  EXECUTE format('ALTER TABLE ledger ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
    partition, bounds[1], bounds[2]);
END $$;

-- Sums by account and minute or hour (epoch milliseconds divided by 60,000 or 3,600,000). They change in the
-- transaction of the rows they count. failures are generate calls answered 5xx.
CREATE TABLE rollup_minute (
  account_id text NOT NULL,
  period bigint NOT NULL,
  keys bigint NOT NULL,
  latency_us bigint NOT NULL,
  streams bigint NOT NULL,
  streams_passed bigint NOT NULL,
  metered bigint NOT NULL,
  failures bigint NOT NULL,
  PRIMARY KEY (account_id, period)
);

CREATE TABLE rollup_hour (
  account_id text NOT NULL,
  period bigint NOT NULL,
  keys bigint NOT NULL,
  latency_us bigint NOT NULL,
  streams bigint NOT NULL,
  streams_passed bigint NOT NULL,
  metered bigint NOT NULL,
  failures bigint NOT NULL,
  PRIMARY KEY (account_id, period)
);

-- One check value per version of the master secret. A server does not start with a secret that does not match.
CREATE TABLE secret_checks (
  version integer PRIMARY KEY,
  check_value bytea NOT NULL CHECK (length(check_value) = 32),
  registered_ms bigint NOT NULL
);

-- One row per process that commits: the number of its latest batch and the decision. The number moves with the
-- batch, so it shows afterwards whether the batch was committed. Moving it without the batch ensures that the
-- batch never will be.
CREATE TABLE writers (
  writer_id uuid PRIMARY KEY,
  turn bigint NOT NULL,
  decision json,
  used_at timestamptz NOT NULL DEFAULT now()
);

-- Writes a batch in one statement and returns the decision: the usage of each account and month before the
-- batch with its quota, the positions of repeated keys, and the number of committed requests. Requests are
-- decided in order of position. A repeated key uses no place of a quota. `holders` are the accounts of
-- requests and failures. Sequential scans are off, because the plan is kept and must not be one that suits an
-- empty ledger.
CREATE FUNCTION write_batch(of_writer uuid, at_turn bigint, holders text[],
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
      gate_p double precision, tests_passed integer, total_tests integer)
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
  ), usage_written AS (
    INSERT INTO usage (account_id, month, used)
    SELECT account_id, month, max(used) + count(*) FROM committed GROUP BY account_id, month
    ON CONFLICT (account_id, month) DO UPDATE SET used = excluded.used
  ), addition AS MATERIALIZED (
    SELECT account_id, at_ms, (key_id IS NOT NULL)::integer AS keys,
      coalesce(latency_us, 0) AS latency_us, streams, streams_passed, 1 AS metered, 0 AS failures
    FROM committed
    UNION ALL SELECT account_id, at_ms, 0, 0, streams, streams_passed, 0, 1 FROM failure
  ), minute_written AS (
    INSERT INTO rollup_minute AS kept (account_id, period, keys, latency_us, streams,
      streams_passed, metered, failures)
    SELECT account_id, at_ms / 60000, sum(keys), sum(latency_us), sum(streams),
      sum(streams_passed), sum(metered), sum(failures)
    FROM addition GROUP BY 1, 2
    ON CONFLICT (account_id, period) DO UPDATE SET
      keys = kept.keys + excluded.keys, latency_us = kept.latency_us + excluded.latency_us,
      streams = kept.streams + excluded.streams,
      streams_passed = kept.streams_passed + excluded.streams_passed,
      metered = kept.metered + excluded.metered, failures = kept.failures + excluded.failures
  ), hour_written AS (
    INSERT INTO rollup_hour AS kept (account_id, period, keys, latency_us, streams,
      streams_passed, metered, failures)
    SELECT account_id, at_ms / 3600000, sum(keys), sum(latency_us), sum(streams),
      sum(streams_passed), sum(metered), sum(failures)
    FROM addition GROUP BY 1, 2
    ON CONFLICT (account_id, period) DO UPDATE SET
      keys = kept.keys + excluded.keys, latency_us = kept.latency_us + excluded.latency_us,
      streams = kept.streams + excluded.streams,
      streams_passed = kept.streams_passed + excluded.streams_passed,
      metered = kept.metered + excluded.metered, failures = kept.failures + excluded.failures
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
CREATE FUNCTION commit_batch(of_writer uuid, at_turn bigint, holders text[],
  metered_requests json, failed_requests json, quotas jsonb) RETURNS json
LANGUAGE plpgsql AS $$
BEGIN
  RETURN write_batch(of_writer, at_turn, holders, metered_requests, failed_requests, quotas);
EXCEPTION WHEN check_violation THEN
  PERFORM ensure_ledger_partition(at_ms)
  FROM (
    SELECT DISTINCT ('x' || encode(substring(key_id FOR 6), 'hex'))::bit(48)::bigint AS at_ms
    FROM json_to_recordset(metered_requests) AS r (key_id bytea) WHERE key_id IS NOT NULL
  ) AS asked;
  RETURN write_batch(of_writer, at_turn, holders, metered_requests, failed_requests, quotas);
END $$;
