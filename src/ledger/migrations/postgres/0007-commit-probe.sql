-- oldest-program: 6
-- Writes what a key writes; the raised exception then rolls the block back. Whatever stops a commit stops this
-- too: a lock, a missing privilege, a full disk, a read-only server. With `room` it also fills a table of 4
-- MiB, more than a batch of 1,024 keys needs, because on a full disk single rows still fit into partly free
-- pages. The rollback removes that table's file at once. The table is unlogged, because the write-ahead log
-- may be on the same full disk.
CREATE FUNCTION write_probe(room boolean) RETURNS void
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
    modulation, source, created_ms, latency_us, entropy_bits)
  VALUES (probe_key, probe_fingerprint, probe_commitment, 1, probe_account, probe_account, 256,
    'probe', 'probe', now_ms, 0, 0)
  ON CONFLICT DO NOTHING
  RETURNING tableoid INTO month_table;
  step := 'the table validated_keys';
  INSERT INTO validated_keys (account_id, key_id, p_values) VALUES (probe_account, probe_key, '');
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

-- Fills 4 MiB beside a table with bytes that no file system can compress. A role that must not create tables
-- skips this.
CREATE FUNCTION fill_room(table_name text, beside regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  place text;
BEGIN
  -- 0 is the database's own tablespace.
  SELECT format('TABLESPACE %I', spcname) INTO place
  FROM pg_class JOIN pg_tablespace ON pg_tablespace.oid = reltablespace WHERE pg_class.oid = beside;
  EXECUTE format('CREATE UNLOGGED TABLE %I %s AS SELECT sha512(int4send(row)) AS a, sha512(int4send(-row)) AS b,
    sha512(int8send(row)) AS c FROM generate_series(1, 16384) AS row', table_name, coalesce(place, ''));
EXCEPTION WHEN insufficient_privilege THEN
  RETURN;
END $$;

-- Reports whether a row that commits of these accounts need is locked. Commits of other servers hold such rows
-- for milliseconds. The function waits for those, but briefly, because commits of this server queue behind it.
-- It holds no row afterwards.
CREATE FUNCTION are_locked(holders text[]) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off SET lock_timeout = '100ms' AS $$
BEGIN
  PERFORM FROM accounts WHERE account_id = ANY (holders) ORDER BY account_id FOR NO KEY UPDATE;
  PERFORM FROM usage WHERE account_id = ANY (holders) ORDER BY account_id, month FOR NO KEY UPDATE;
  RAISE EXCEPTION USING ERRCODE = 'PHMOK', MESSAGE = 'the locks are given back';
EXCEPTION
  WHEN SQLSTATE 'PHMOK' THEN
    RETURN false;
  WHEN lock_not_available THEN
    RETURN true;
END $$;

-- Shows whether a key could be recorded now. Servers call this function. It changes only the writer's number,
-- as a commit does, and creates the month's partition if it is missing, as `commit_batch` does. Returns true
-- if a row of `holders` is locked; these are accounts whose requests failed.
CREATE FUNCTION probe_commit(of_writer uuid, at_turn bigint, holders text[], room boolean) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
BEGIN
  BEGIN
    PERFORM write_probe(room);
  EXCEPTION WHEN check_violation THEN
    PERFORM ensure_ledger_partition(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    PERFORM write_probe(room);
  END;
  UPDATE writers SET turn = at_turn, decision = NULL, used_at = now()
  WHERE writer_id = of_writer AND turn < at_turn;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the database does not know this server' USING ERRCODE = 'no_data_found';
  END IF;
  RETURN cardinality(holders) > 0 AND are_locked(holders);
END $$;
