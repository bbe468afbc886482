-- oldest-program: 14
-- Deliveries: sealed copies of keys that wait for registered recipients. See src/ledger/deliveries.ts.

-- One row for each delivery, while its key has a row in the ledger: its ID is not used again. until_ms is when its copies
-- expire. Not partitioned, so that IDs are unique.
CREATE TABLE deliveries (
  account_id text NOT NULL,
  delivery_id bytea NOT NULL CHECK (length(delivery_id) = 16),
  key_id bytea NOT NULL CHECK (length(key_id) = 16),
  until_ms bigint NOT NULL,
  PRIMARY KEY (account_id, delivery_id)
);

CREATE INDEX deliveries_key ON deliveries (key_id);

-- One row for each recipient of a delivery. sealed_key, of `size` bytes, is NULL once the copy has left the box. received_ms is
-- the time of the first fetch. Only the holder of the account's row adds copies.
CREATE TABLE delivery_copies (
  account_id text NOT NULL,
  delivery_id bytea NOT NULL,
  recipient text NOT NULL,
  key_id bytea NOT NULL,
  state text NOT NULL CHECK (state IN ('waiting', 'received', 'removed', 'expired', 'revoked')),
  until_ms bigint NOT NULL,
  received_ms bigint,
  size integer NOT NULL,
  sealed_key text,
  CHECK ((sealed_key IS NOT NULL) = (state IN ('waiting', 'received'))),
  PRIMARY KEY (account_id, delivery_id, recipient)
);

-- Sealed keys hold random bytes, which do not compress.
ALTER TABLE delivery_copies ALTER COLUMN sealed_key SET STORAGE EXTERNAL;

-- A box in the order of its keys.
CREATE INDEX delivery_copies_box ON delivery_copies (account_id, recipient, state, key_id)
WHERE state IN ('waiting', 'received');

-- A box in the order in which its copies expire.
CREATE INDEX delivery_copies_until ON delivery_copies (account_id, recipient, until_ms) INCLUDE (size)
WHERE state IN ('waiting', 'received');

-- The delivery of a key, as its sealed copies and its statement name it: a UUID, and 32 bytes of the caller.
ALTER TABLE ledger ADD COLUMN delivery_id bytea;
ALTER TABLE ledger ADD COLUMN delivery_context bytea;

-- Names of recipients that the API key may receive for, with commas; NULL: all of the account.
ALTER TABLE api_keys ADD COLUMN recipients text;

-- Returns the state of a copy after an event that leads from the box to `target`, as `copyStateAfter` and `copyStateAt` do.
CREATE FUNCTION copy_state_after(state text, until_ms bigint, now_ms bigint, target text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN state NOT IN ('waiting', 'received') THEN state WHEN until_ms <= now_ms THEN 'expired' ELSE target END
$$;

-- Ends copies of an account, or of one of its recipients, as removed: at most `most`, NULL for all. Returns how many it ended. All that lock
-- copies do so in one order.
CREATE FUNCTION empty_boxes_1(of_account text, of_recipient text, most integer) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  wanted bigint;
  written bigint;
BEGIN
  WITH chosen AS MATERIALIZED (
    SELECT account_id, delivery_id, recipient FROM delivery_copies
    WHERE account_id = of_account AND (of_recipient IS NULL OR recipient = of_recipient) AND state IN ('waiting', 'received')
    LIMIT most
  ), locked AS MATERIALIZED (
    SELECT kept.account_id, kept.delivery_id, kept.recipient
    FROM delivery_copies AS kept JOIN chosen USING (account_id, delivery_id, recipient)
    WHERE kept.state IN ('waiting', 'received')
    ORDER BY kept.account_id, kept.delivery_id, kept.recipient FOR NO KEY UPDATE OF kept
  ), ended AS (
    UPDATE delivery_copies AS kept SET state = 'removed', sealed_key = NULL FROM locked
    WHERE kept.account_id = locked.account_id AND kept.delivery_id = locked.delivery_id AND kept.recipient = locked.recipient
    RETURNING 1
  )
  SELECT (SELECT count(*) FROM locked), (SELECT count(*) FROM ended) INTO wanted, written;
  PERFORM require_written('delivery_copies', wanted, written);
  RETURN written;
END $$;

-- Removes a recipient and the copies of its box. Commits that deliver hold the account's row, so this function waits for them
-- first. Its later statements see the copies that they added.
CREATE FUNCTION remove_recipient_1(of_account text, of_name text) RETURNS TABLE (is_new boolean) LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  PERFORM FROM accounts WHERE account_id = of_account FOR NO KEY UPDATE;
  PERFORM FROM recipients WHERE account_id = of_account AND name = of_name FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  PERFORM empty_boxes_1(of_account, of_name, NULL);
  DELETE FROM recipients WHERE account_id = of_account AND name = of_name;
  GET DIAGNOSTICS written = ROW_COUNT;
  PERFORM require_written('recipients', 1, written);
  is_new := true;
  RETURN NEXT;
END $$;

-- Changes the state of an account, as `change_account_state_2` does. A deletion also empties all boxes.
CREATE FUNCTION change_account_state_3(of_account text, target text, after_audit bytea, by_audit bytea, at_ms bigint)
RETURNS TABLE (outcome text) LANGUAGE plpgsql AS $$
BEGIN
  SELECT changed.outcome INTO outcome
  FROM change_account_state_2(of_account, target, after_audit, by_audit, at_ms) AS changed;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF outcome = 'changed' AND target = 'deleted' THEN
    PERFORM empty_boxes_1(of_account, NULL, NULL);
  END IF;
  RETURN NEXT;
END $$;

-- Fetches and removes copies, as `DeliveryStore.takeCopies` says: one at a time, in the order of the arrays. Each is written,
-- also if it keeps its state, so that the commit confirms what is returned.
CREATE FUNCTION take_copies_1(of_accounts text[], of_recipients text[], ids bytea[], targets text[])
RETURNS TABLE (place integer, delivery_id bytea, key_id bytea, until_ms bigint, state text, sealed_key text)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  now_ms CONSTANT bigint := ledger_clock_ms();
  wanted bigint;
  written bigint := 0;
  changed bigint;
BEGIN
  PERFORM FROM delivery_copies AS kept
  JOIN unnest(of_accounts, of_recipients, ids) AS asked (account_id, recipient, delivery_id)
    USING (account_id, delivery_id, recipient)
  ORDER BY kept.account_id, kept.delivery_id, kept.recipient FOR NO KEY UPDATE OF kept;
  GET DIAGNOSTICS wanted = ROW_COUNT;
  FOR at IN 1..cardinality(ids) LOOP
    RETURN QUERY
    UPDATE delivery_copies AS kept
    SET state = copy_state_after(kept.state, kept.until_ms, now_ms, targets[at]),
      received_ms = CASE WHEN kept.state = 'waiting'
        AND copy_state_after(kept.state, kept.until_ms, now_ms, targets[at]) = 'received' THEN now_ms ELSE kept.received_ms END,
      sealed_key = CASE WHEN copy_state_after(kept.state, kept.until_ms, now_ms, targets[at]) IN ('waiting', 'received')
        THEN kept.sealed_key END
    WHERE kept.account_id = of_accounts[at] AND kept.delivery_id = ids[at] AND kept.recipient = of_recipients[at]
    RETURNING at, kept.delivery_id, kept.key_id, kept.until_ms, kept.state, kept.sealed_key;
    GET DIAGNOSTICS changed = ROW_COUNT;
    written := written + changed;
  END LOOP;
  PERFORM require_written('delivery_copies', wanted, written);
END $$;

-- Ends the copies of deliveries whose keys must not be released.
CREATE FUNCTION withdraw_deliveries_1(of_account text, ids bytea[]) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  wanted bigint;
  written bigint;
BEGIN
  PERFORM FROM delivery_copies WHERE account_id = of_account AND delivery_id = ANY (ids) AND state IN ('waiting', 'received')
  ORDER BY account_id, delivery_id, recipient FOR NO KEY UPDATE;
  GET DIAGNOSTICS wanted = ROW_COUNT;
  UPDATE delivery_copies SET state = 'removed', sealed_key = NULL
  WHERE account_id = of_account AND delivery_id = ANY (ids) AND state IN ('waiting', 'received');
  GET DIAGNOSTICS written = ROW_COUNT;
  RETURN require_written('delivery_copies', wanted, written);
END $$;

-- Ends expired copies of a box, at most `most`, and none that another session locks.
CREATE FUNCTION sweep_box(of_account text, of_recipient text, now_ms bigint, most bigint) RETURNS void
LANGUAGE sql SET enable_seqscan = off AS $$
  UPDATE delivery_copies SET state = 'expired', sealed_key = NULL WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM delivery_copies
    WHERE account_id = of_account AND recipient = of_recipient AND until_ms <= now_ms AND state IN ('waiting', 'received')
    LIMIT most FOR NO KEY UPDATE SKIP LOCKED))
$$;

-- Returns why requests cannot be delivered, by position, as `DeliveryStore.findDeliveryRefusal` says. `delivery_rows` are
-- their deliveries, and `box_rows` what they need of each box. `group`: only earlier requests of the same list are in the way,
-- which may themselves be refused. NULL without a refusal.
CREATE FUNCTION refuse_deliveries(delivery_rows json, box_rows json, now_ms bigint) RETURNS json
LANGUAGE sql SET enable_seqscan = off AS $$
  WITH delivery AS MATERIALIZED (
    SELECT d.*, EXISTS (SELECT FROM deliveries AS kept
        WHERE kept.account_id = d.account_id AND kept.delivery_id = d.delivery_id) AS is_taken,
      1 < row_number() OVER (PARTITION BY account_id, delivery_id ORDER BY position) AS is_later
    FROM json_to_recordset(delivery_rows) AS d (position integer, place integer, account_id text, delivery_id bytea)
  ), box AS MATERIALIZED (
    SELECT b.*, held.copies AS held_copies, held.bytes AS held_bytes,
      NOT EXISTS (SELECT FROM recipients WHERE recipients.account_id = b.account_id AND recipients.name = b.recipient
        AND recipients.public_key = b.public_key) AS is_unknown,
      sum(b.copies) OVER earlier AS copies_so_far, sum(b.bytes) OVER earlier AS bytes_so_far
    FROM json_to_recordset(box_rows) AS b (position integer, place integer, account_id text, recipient text,
      public_key bytea, copies bigint, bytes bigint, most_copies bigint, most_bytes bigint)
    JOIN (
      SELECT account_id, recipient, found.* FROM (
        SELECT DISTINCT account_id, recipient FROM json_to_recordset(box_rows) AS b (account_id text, recipient text)) AS one
      CROSS JOIN LATERAL (
        SELECT count(*) AS copies, coalesce(sum(size), 0) AS bytes FROM delivery_copies AS kept
        WHERE kept.account_id = one.account_id AND kept.recipient = one.recipient AND kept.until_ms > now_ms
          AND kept.state IN ('waiting', 'received')) AS found) AS held USING (account_id, recipient)
    WINDOW earlier AS (PARTITION BY account_id, recipient ORDER BY position ROWS UNBOUNDED PRECEDING)
  ), refusal AS (
    SELECT position, 1 AS rank, 'exists' AS reason, NULL AS recipient, json_agg(place ORDER BY place) AS places, 0 AS place
    FROM delivery WHERE is_taken GROUP BY position
    UNION ALL SELECT position, 2, 'unknown_recipient', recipient, NULL, place FROM box WHERE is_unknown
    UNION ALL SELECT position, 2, 'box_full', recipient, NULL, place FROM box
    WHERE NOT is_unknown AND (held_copies + copies > most_copies OR held_bytes + bytes > most_bytes)
    UNION ALL SELECT position, 3, 'group', NULL, NULL, 0 FROM delivery WHERE is_later
    UNION ALL SELECT position, 3, 'group', NULL, NULL, 0 FROM box
    WHERE held_copies + copies_so_far > most_copies OR held_bytes + bytes_so_far > most_bytes
  )
  SELECT json_agg(json_build_object('position', position, 'reason', reason, 'recipient', recipient, 'places', places))
  FROM (SELECT DISTINCT ON (position) * FROM refusal ORDER BY position, rank, place) AS one
$$;

-- Writes the deliveries and copies of committed requests. The sealed key of a copy is at `text_at` of `texts`.
CREATE FUNCTION write_deliveries(committed integer[], delivery_rows json, copy_rows json, texts text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  wanted bigint;
  written bigint;
BEGIN
  WITH delivery AS MATERIALIZED (
    SELECT * FROM json_to_recordset(delivery_rows) AS d (position integer, account_id text, delivery_id bytea, key_id bytea,
      until_ms bigint)
    WHERE position = ANY (committed)
  ), delivery_written AS (
    INSERT INTO deliveries (account_id, delivery_id, key_id, until_ms)
    SELECT account_id, delivery_id, key_id, until_ms FROM delivery RETURNING 1
  )
  SELECT (SELECT count(*) FROM delivery), (SELECT count(*) FROM delivery_written) INTO wanted, written;
  PERFORM require_written('deliveries', wanted, written);
  WITH copy AS MATERIALIZED (
    SELECT account_id, delivery_id, key_id, until_ms, recipient, texts[text_at] AS sealed_key
    FROM json_to_recordset(delivery_rows) AS d (position integer, place integer, account_id text, delivery_id bytea,
      key_id bytea, until_ms bigint)
    JOIN json_to_recordset(copy_rows) AS c (position integer, place integer, recipient text, text_at integer)
      USING (position, place)
    WHERE position = ANY (committed)
  ), copy_written AS (
    INSERT INTO delivery_copies (account_id, delivery_id, recipient, key_id, state, until_ms, size, sealed_key)
    SELECT account_id, delivery_id, recipient, key_id, 'waiting', until_ms, length(sealed_key), sealed_key FROM copy
    RETURNING 1
  )
  SELECT (SELECT count(*) FROM copy), (SELECT count(*) FROM copy_written) INTO wanted, written;
  PERFORM require_written('delivery_copies', wanted, written);
END $$;

-- Writes a batch in one statement and returns the decision: the usage of each account and month before the batch with its
-- quota, the positions of requests with a stored record and of requests that repeat a key, and the number of
-- committed requests; and, apart from the decision, which `writers` keeps, the stored records. A request may have several
-- keys (`key_rows`, by position) and an Idempotency-Key (`keyed_requests`, whose bodies are at `body_at` of `bodies`). All
-- rows of a request are written, or none; a batch of which rows are dropped is refused. Requests are decided in order of
-- position. A replayed request and a repeated key use no place of a quota. `holders` are the accounts of the requests.
-- Requests of locked accounts are left out, and the accounts are returned in `deferred`. None of `busy` is waited for, nor
-- any account for failed requests. Sequential scans are off, because the plan is kept and must not be one that suits an empty
-- ledger.
CREATE FUNCTION write_batch_11(of_writer uuid, at_turn bigint, holders text[], metered_requests json, key_rows json,
  keyed_requests json, bodies text[], failed_requests json, quotas jsonb, busy text[], delivery_rows json, box_rows json,
  copy_rows json, texts text[], OUT decision json, OUT answers json)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
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
      position integer, key_id bytea, fingerprint bigint, commitment bytea,
      secret_version integer, security_level integer, modulation text, source text,
      created_ms bigint, latency_us bigint, entropy_bits double precision, entropy_job_id text,
      latency_bucket integer, gate_p double precision, tests_passed integer, total_tests integer,
      p_values bytea, evidence_definition smallint, sealed_to bytea, sealed_digest bytea, further_seals bytea, delivery_id bytea,
      delivery_context bytea,
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
    INSERT INTO ledger (key_id, fingerprint, commitment, secret_version, account_id, api_key_id,
      security_level, modulation, source, created_ms, latency_us, entropy_bits, entropy_job_id,
      gate_p, tests_passed, total_tests, evidence_definition, sealed_to, sealed_digest, key_commitment, salt,
      strength_bits, sources, software_id, labels, expires_ms, further_seals, delivery_id, delivery_context)
    SELECT key_id, fingerprint, commitment, secret_version, account_id, api_key_id,
      security_level, modulation, source, created_ms, latency_us, entropy_bits, entropy_job_id,
      gate_p, tests_passed, total_tests, evidence_definition, sealed_to, sealed_digest, key_commitment, salt,
      strength_bits, sources, software_id, labels, expires_ms, further_seals, delivery_id, delivery_context
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
    (SELECT max(CASE WHEN delivery_id IS NOT NULL THEN 16 WHEN further_seals IS NOT NULL THEN 15
      WHEN labels IS NOT NULL OR expires_ms IS NOT NULL THEN 11 WHEN sealed_to IS NOT NULL THEN 10 END)
      FROM committed_key),
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
    IF EXISTS (SELECT FROM json_to_recordset(delivery_rows) AS d (position integer) WHERE position = ANY (committed_positions)) THEN
      program := 16;
    END IF;
  END IF;
  IF EXISTS (SELECT FROM schema_version WHERE oldest_program < program) THEN
    UPDATE schema_version SET oldest_program = program WHERE oldest_program < program;
  END IF;
  UPDATE writers SET turn = at_turn, decision = write_batch_11.decision, used_at = now()
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
CREATE FUNCTION commit_batch_11(of_writer uuid, at_turn bigint, holders text[], metered_requests json, key_rows json,
  keyed_requests json, bodies text[], failed_requests json, quotas jsonb, busy text[],
  delivery_rows json, box_rows json, copy_rows json, texts text[], OUT decision json, OUT answers json)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT * INTO decision, answers FROM write_batch_11(of_writer, at_turn, holders, metered_requests, key_rows,
    keyed_requests, bodies, failed_requests, quotas, busy, delivery_rows, box_rows, copy_rows, texts);
EXCEPTION WHEN check_violation THEN
  PERFORM ensure_ledger_partition(at_ms)
  FROM (
    SELECT DISTINCT ('x' || encode(substring(key_id FOR 6), 'hex'))::bit(48)::bigint AS at_ms
    FROM json_to_recordset(key_rows) AS r (key_id bytea)
  ) AS asked;
  SELECT * INTO decision, answers FROM write_batch_11(of_writer, at_turn, holders, metered_requests, key_rows,
    keyed_requests, bodies, failed_requests, quotas, busy, delivery_rows, box_rows, copy_rows, texts);
END $$;
