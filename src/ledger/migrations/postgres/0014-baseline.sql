-- oldest-program: 14
-- The whole schema. Functions keep the numbers that they had before the first release, because ledgers from then have them.

-- The version of the schema, and that of the oldest programs that can work with it and with what the ledger holds. One row:
-- the program that applies a migration writes it.
CREATE TABLE schema_version (
  version integer PRIMARY KEY,
  oldest_program integer
);

-- Accounts. suspended_ms and deleted_ms are NULL for an active one. state_audit_id names the audit record of the last
-- change of its state.
CREATE TABLE accounts (
  account_id text PRIMARY KEY,
  name text NOT NULL,
  plan text NOT NULL,
  demo boolean NOT NULL,
  created_ms bigint NOT NULL,
  sealed_only text NOT NULL DEFAULT 'off' CHECK (sealed_only IN ('off', 'on', 'registered')),
  suspended_ms bigint,
  deleted_ms bigint,
  state_audit_id bytea
);

-- API keys. An API key is stored only as the SHA-256 of its text. The columns from name on are NULL without rules; see
-- src/ledger/api-keys.ts. scopes and address_ranges are lists with commas. last_used_hour counts hours since 1970.
-- replaced_by names the API key that followed in a rotation, and counter_id the first one of such a chain: the API keys of
-- a chain share the counter of monthly_limit.
CREATE TABLE api_keys (
  api_key_id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (account_id),
  key_hash bytea NOT NULL UNIQUE CHECK (length(key_hash) = 32),
  hint text NOT NULL,
  created_ms bigint NOT NULL,
  revoked_ms bigint,
  name text,
  scopes text,
  expires_ms bigint,
  address_ranges text,
  rate_per_second double precision,
  burst integer,
  monthly_limit bigint,
  last_used_hour integer,
  replaced_by text,
  counter_id text
);

CREATE INDEX api_keys_account ON api_keys (account_id);

-- Public keys that an account registered by name.
CREATE TABLE recipients (
  account_id text NOT NULL REFERENCES accounts (account_id),
  name text NOT NULL,
  suite text NOT NULL,
  public_key bytea NOT NULL,
  created_ms bigint NOT NULL,
  PRIMARY KEY (account_id, name)
);

-- Metered requests by account and UTC calendar month (months since year 0).
CREATE TABLE usage (
  account_id text NOT NULL REFERENCES accounts (account_id),
  month integer NOT NULL,
  used bigint NOT NULL CHECK (used >= 0),
  PRIMARY KEY (account_id, month)
);

-- Metered requests of API keys with a monthly_limit, by the first API key of the chain and UTC calendar month. Its rows
-- change under the lock of the account's row. No foreign key: each commit would lock the API key.
CREATE TABLE api_key_usage (
  api_key_id text NOT NULL,
  month integer NOT NULL,
  used bigint NOT NULL CHECK (used >= 0),
  PRIMARY KEY (api_key_id, month)
);

-- One row per generated key, in time order: key_id is a UUIDv7, whose first 48 bits are milliseconds. No
-- column holds key bytes. The commitment is a keyed digest, and fingerprint is its first 64 bits. Each month
-- of UTC is a partition, which can be dropped whole when it is out of date.
--
-- evidence_definition says what gate_p, tests_passed, total_tests and p_values describe. 1: the suite on the modulated
-- sample (188 p-values). 2: the suite on the carrier, and four tests on the modulated sample (192). NULL: a plain key, or 1.
-- key_commitment to software_id are what the key's statement needs (src/ledger/log-store.ts); NULL: written without a log.
-- sealed_to and sealed_digest are NULL for a key that was returned in plaintext. labels is a canonical JSON object.
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
  total_tests integer,
  evidence_definition smallint,
  key_commitment bytea,
  salt bytea,
  strength_bits integer,
  sources text,
  software_id integer,
  sealed_to bytea,
  sealed_digest bytea,
  labels text,
  expires_ms bigint
) PARTITION BY RANGE (key_id);

-- Keys of an account in the order of time. Months have their part of the index from ensure_ledger_partition. Servers build it
-- for months that lack it, beside commits: src/ledger/postgres/account-index.ts.
CREATE INDEX ledger_account ON ONLY ledger (account_id, key_id);

-- The p-values of the suite on the sample of a validated key, in units of 10^-9, each 4 bytes, lowest byte
-- first. All ones: the test did not apply. A separate table by account: in `ledger` they would need an index
-- in each month, and most keys have none.
CREATE TABLE validated_keys (
  account_id text NOT NULL,
  key_id bytea NOT NULL CHECK (length(key_id) = 16),
  p_values bytea NOT NULL,
  evidence_definition smallint NOT NULL DEFAULT 1,
  PRIMARY KEY (account_id, key_id)
);

-- One row for each key that expires or is revoked. It outlives the row in the ledger, so it names the commitment. state,
-- reason, revoked_ms and audit_id, which names the audit record, describe the revocation that counts.
CREATE TABLE key_states (
  key_id bytea PRIMARY KEY CHECK (length(key_id) = 16),
  account_id text NOT NULL,
  fingerprint bigint NOT NULL,
  commitment bytea NOT NULL CHECK (length(commitment) = 32),
  secret_version integer NOT NULL,
  expires_ms bigint,
  state text CHECK (state IN ('deactivated', 'compromised')),
  reason text CHECK ((reason IS NULL) = (state IS NULL)),
  revoked_ms bigint CHECK ((revoked_ms IS NULL) = (state IS NULL)),
  audit_id bytea CHECK ((audit_id IS NULL) = (state IS NULL)),
  CHECK (expires_ms IS NOT NULL OR state IS NOT NULL)
);

CREATE INDEX key_states_fingerprint ON key_states (fingerprint);

-- Requests with an Idempotency-Key that were committed. A record counts for 24 hours from made_ms, the database's
-- clock at its commit. slot is the day of made_ms modulo 3: today's table, yesterday's, and one to empty. key_ids
-- holds 16 bytes a key. The holder of the account's row looks a record up and writes it, so there is one at a time.
CREATE TABLE idempotency (
  slot smallint NOT NULL,
  account_id text NOT NULL,
  idempotency_key text NOT NULL,
  made_ms bigint NOT NULL,
  request_hash bytea NOT NULL CHECK (length(request_hash) = 32),
  key_ids bytea NOT NULL CHECK (length(key_ids) % 16 = 0),
  created_ms bigint NOT NULL,
  body text,
  PRIMARY KEY (account_id, idempotency_key, slot)
) PARTITION BY LIST (slot);

-- Bodies hold random bytes, which do not compress. One of a few kilobytes stays beside its record.
ALTER TABLE idempotency ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE idempotency_0 PARTITION OF idempotency FOR VALUES IN (0) WITH (toast_tuple_target = 8160);
CREATE TABLE idempotency_1 PARTITION OF idempotency FOR VALUES IN (1) WITH (toast_tuple_target = 8160);
CREATE TABLE idempotency_2 PARTITION OF idempotency FOR VALUES IN (2) WITH (toast_tuple_target = 8160);

-- The newest day of the records in each slot, in days since 1970; 0 without records. So a slot can be emptied without
-- reading it.
CREATE TABLE idempotency_slots (
  slot smallint PRIMARY KEY,
  newest_day bigint NOT NULL
);
INSERT INTO idempotency_slots (slot, newest_day) VALUES (0, 0), (1, 0), (2, 0);

-- Sums by account and minute or hour (epoch milliseconds divided by 60,000 or 3,600,000). They change in the
-- transaction of the rows they count. failures are generate calls answered 5xx. latency_counts is the number of latencies
-- in each bucket of src/ledger/latency.ts, separated by commas. NULL: none was counted.
CREATE TABLE rollup_minute (
  account_id text NOT NULL,
  period bigint NOT NULL,
  keys bigint NOT NULL,
  latency_us bigint NOT NULL,
  streams bigint NOT NULL,
  streams_passed bigint NOT NULL,
  metered bigint NOT NULL,
  failures bigint NOT NULL,
  latency_counts text,
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
  latency_counts text,
  PRIMARY KEY (account_id, period)
);

-- One check value per version of the master secret. A server does not start with a secret that does not match.
-- activated_ms is when the version was first current on a server; NULL: never. A server that lacks an activated version
-- cannot tell which keys were generated here. retired_ms is NULL for a version that is not retired. A proof under a retired
-- version counts only with a row of its key, made before compromised_ms; NULL: made at any time.
CREATE TABLE secret_checks (
  version integer PRIMARY KEY,
  check_value bytea NOT NULL CHECK (length(check_value) = 32),
  registered_ms bigint NOT NULL,
  activated_ms bigint DEFAULT 0,
  retired_ms bigint,
  compromised_ms bigint
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

-- The database's clock, which decides on quota months and on the months of the ledger. It is a separate
-- function so that a test can set it.
CREATE FUNCTION ledger_clock_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- The UTC calendar month of that clock, in months since year 0.
CREATE FUNCTION ledger_month() RETURNS integer LANGUAGE sql VOLATILE AS $$
  SELECT (extract(year FROM now_utc) * 12 + extract(month FROM now_utc) - 1)::integer
  FROM (SELECT to_timestamp(ledger_clock_ms() / 1000.0) AT TIME ZONE 'UTC' AS now_utc) AS clock
$$;

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

-- Drops a month of the ledger if all its rows are older than a time, by key ID and by created_ms. Returns
-- their number, or NULL if one is younger and the month stays. The lock keeps out new rows from the check on,
-- and another server that drops the same month.
CREATE FUNCTION drop_ledger_partition(partition text, before_ms bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  bound CONSTANT bytea := decode(lpad(to_hex(before_ms), 12, '0'), 'hex');
  found bigint;
  younger bigint;
BEGIN
  EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', partition);
  EXECUTE format('SELECT count(*), count(*) FILTER (WHERE key_id >= $1 OR created_ms >= $2) FROM %I', partition)
  INTO found, younger USING bound, before_ms;
  IF younger > 0 THEN
    RETURN NULL;
  END IF;
  EXECUTE format('DROP TABLE %I', partition);
  RETURN found;
END $$;

-- Empties the table of a slot whose records are from the day before yesterday, or older. TRUNCATE locks out readers
-- for a moment, and commits queue behind it, so it waits only briefly. If the clock was set back, the slot may hold
-- records of a later day: these stay, and expired ones are deleted, at most 2,000. Returns their number.
CREATE FUNCTION empty_idempotency_slot(of_slot integer) RETURNS bigint
LANGUAGE plpgsql SET lock_timeout = '200ms' AS $$
DECLARE
  now_ms CONSTANT bigint := ledger_clock_ms();
  today CONSTANT bigint := now_ms / 86400000;
  slot_table CONSTANT text := 'idempotency_' || of_slot;
  newest bigint;
  deleted bigint := 0;
BEGIN
  SELECT newest_day INTO newest FROM idempotency_slots WHERE slot = of_slot FOR UPDATE;
  IF newest BETWEEN 1 AND today - 2 THEN
    EXECUTE format('TRUNCATE %I', slot_table);
    UPDATE idempotency_slots SET newest_day = 0 WHERE slot = of_slot;
  ELSIF newest > today THEN
    EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE made_ms <= $1 LIMIT 2000))',
      slot_table) USING now_ms - 86400000;
    GET DIAGNOSTICS deleted = ROW_COUNT;
  END IF;
  RETURN deleted;
END $$;

-- Refuses a statement that wrote fewer rows than it had to, because a trigger or a rule dropped some.
CREATE FUNCTION require_written(of_table text, wanted bigint, written bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF wanted <> written THEN
    RAISE EXCEPTION 'the database dropped rows of the table %', of_table USING ERRCODE = 'PHMDR';
  END IF;
  RETURN true;
END $$;

-- Changes the state of an account, as `AccountStore.changeAccountState` says, and returns its outcome; no row for an
-- unknown account. A statement that waits for the account's row keeps its snapshot. So this is a function, whose later
-- statements see the API keys and recipients that were added meanwhile. Refuses a change of which rows are dropped.
CREATE FUNCTION change_account_state_2(of_account text, target text, after_audit bytea, by_audit bytea, at_ms bigint)
RETURNS TABLE (outcome text) LANGUAGE plpgsql AS $$
DECLARE
  old accounts%ROWTYPE;
  state text;
  wanted bigint;
  written bigint;
BEGIN
  SELECT * INTO old FROM accounts WHERE account_id = of_account FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  state := CASE WHEN old.deleted_ms IS NOT NULL THEN 'deleted' WHEN old.suspended_ms IS NOT NULL THEN 'suspended'
    ELSE 'active' END;
  outcome := CASE WHEN state = target THEN 'unchanged' WHEN state = 'deleted' THEN 'deleted'
    WHEN old.state_audit_id IS DISTINCT FROM after_audit THEN 'stale' ELSE 'changed' END;
  IF outcome = 'changed' THEN
    UPDATE accounts SET suspended_ms = CASE target WHEN 'suspended' THEN at_ms END,
      deleted_ms = CASE target WHEN 'deleted' THEN at_ms END, state_audit_id = by_audit,
      name = CASE target WHEN 'deleted' THEN '(deleted)' ELSE name END
    WHERE account_id = of_account;
  ELSE
    -- A caller may repeat a change whose commit was not confirmed: the commit of this write confirms it.
    UPDATE accounts SET plan = plan WHERE account_id = of_account;
  END IF;
  GET DIAGNOSTICS written = ROW_COUNT;
  PERFORM require_written('accounts', 1, written);
  IF outcome = 'changed' AND target = 'deleted' THEN
    SELECT count(*) INTO wanted FROM api_keys WHERE account_id = of_account;
    UPDATE api_keys SET revoked_ms = coalesce(revoked_ms, at_ms), name = NULL, address_ranges = NULL
    WHERE account_id = of_account;
    GET DIAGNOSTICS written = ROW_COUNT;
    PERFORM require_written('api_keys', wanted, written);
    SELECT count(*) INTO wanted FROM (SELECT FROM recipients WHERE account_id = of_account FOR UPDATE) AS one;
    DELETE FROM recipients WHERE account_id = of_account;
    GET DIAGNOSTICS written = ROW_COUNT;
    PERFORM require_written('recipients', wanted, written);
  END IF;
  RETURN NEXT;
END $$;

-- Locks the rows of these accounts and returns those that other sessions keep locked. It waits a moment for a row, because
-- commits of other servers hold it that long, but not for the accounts in `busy`, which were locked before. All wait in one
-- order, so there is no deadlock.
CREATE FUNCTION lock_accounts(holders text[], busy text[], of_month integer) RETURNS text[]
LANGUAGE plpgsql SET enable_seqscan = off SET lock_timeout = '150ms' AS $$
DECLARE
  free text[];
  free_usage text[];
BEGIN
  BEGIN
    PERFORM FROM accounts WHERE account_id = ANY (holders) AND account_id <> ALL (busy)
    ORDER BY account_id FOR NO KEY UPDATE;
  EXCEPTION WHEN lock_not_available THEN
    -- Gives back the locks of this block. The statements below take those that are free.
    NULL;
  END;
  SELECT array_agg(account_id) INTO free FROM (
    SELECT account_id FROM accounts WHERE account_id = ANY (holders) FOR NO KEY UPDATE SKIP LOCKED) AS one;
  -- Commits change the counter only under the lock of the account, so nobody else holds it for a moment.
  SELECT array_agg(account_id) INTO free_usage FROM (
    SELECT account_id FROM usage WHERE account_id = ANY (free) AND month = of_month FOR NO KEY UPDATE SKIP LOCKED) AS one;
  RETURN ARRAY(
    SELECT account_id FROM accounts WHERE account_id = ANY (holders) AND account_id <> ALL (coalesce(free, '{}'))
    UNION
    SELECT account_id FROM usage
    WHERE account_id = ANY (free) AND month = of_month AND account_id <> ALL (coalesce(free_usage, '{}')));
END $$;

-- Locks the states of these keys, as lock_accounts does with accounts, and returns the keys whose states other sessions keep
-- locked.
CREATE FUNCTION lock_key_states(asked bytea[]) RETURNS bytea[]
LANGUAGE plpgsql SET enable_seqscan = off SET lock_timeout = '150ms' AS $$
DECLARE
  free bytea[];
BEGIN
  BEGIN
    PERFORM FROM key_states WHERE key_id = ANY (asked) ORDER BY key_id FOR UPDATE;
  EXCEPTION WHEN lock_not_available THEN
    NULL;
  END;
  SELECT array_agg(key_id) INTO free FROM (
    SELECT key_id FROM key_states WHERE key_id = ANY (asked) FOR UPDATE SKIP LOCKED) AS one;
  RETURN ARRAY(SELECT key_id FROM key_states WHERE key_id = ANY (asked) AND key_id <> ALL (coalesce(free, '{}')));
END $$;

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

-- Returns the positions of the requests that commit, by the rule of `decide` in src/ledger/quota-decision.ts. The
-- arrays are in the order of account and position. `refused` requests are answered by a stored record, or repeat a
-- key. `later` ones follow another with the same Idempotency-Key, which answers them if it commits. A request fits
-- whole into what its quota leaves, or not at all. A NULL quota is unlimited. A request with a counter must fit into the
-- limit of its API key too.
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

-- Writes a batch in one statement and returns the decision: the usage of each account and month before the batch with its
-- quota, the positions of requests with a stored record and of requests that repeat a key, and the number of
-- committed requests; and, apart from the decision, which `writers` keeps, the stored records. A request may have several
-- keys (`key_rows`, by position) and an Idempotency-Key (`keyed_requests`, whose bodies are at `body_at` of `bodies`). All
-- rows of a request are written, or none; a batch of which rows are dropped is refused. Requests are decided in order of
-- position. A replayed request and a repeated key use no place of a quota. `holders` are the accounts of the requests.
-- Requests of locked accounts are left out, and the accounts are returned in `deferred`. None of `busy` is waited for, nor
-- any account for failed requests. Sequential scans are off, because the plan is kept and must not be one that suits an empty
-- ledger.
CREATE FUNCTION write_batch_9(of_writer uuid, at_turn bigint, holders text[], metered_requests json, key_rows json,
  keyed_requests json, bodies text[], failed_requests json, quotas jsonb, busy text[], OUT decision json, OUT answers json)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  this_month CONSTANT integer := ledger_month();
  now_ms CONSTANT bigint := ledger_clock_ms();
  has_keyed CONSTANT boolean := json_array_length(keyed_requests) > 0;
  locked text[];
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
    (SELECT max(CASE WHEN labels IS NOT NULL OR expires_ms IS NOT NULL THEN 11 WHEN sealed_to IS NOT NULL THEN 10 END)
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
  IF EXISTS (SELECT FROM schema_version WHERE oldest_program < program) THEN
    UPDATE schema_version SET oldest_program = program WHERE oldest_program < program;
  END IF;
  UPDATE writers SET turn = at_turn, decision = write_batch_9.decision, used_at = now()
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
CREATE FUNCTION commit_batch_9(of_writer uuid, at_turn bigint, holders text[], metered_requests json, key_rows json,
  keyed_requests json, bodies text[], failed_requests json, quotas jsonb, busy text[], OUT decision json, OUT answers json)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT * INTO decision, answers FROM write_batch_9(of_writer, at_turn, holders, metered_requests, key_rows,
    keyed_requests, bodies, failed_requests, quotas, busy);
EXCEPTION WHEN check_violation THEN
  PERFORM ensure_ledger_partition(at_ms)
  FROM (
    SELECT DISTINCT ('x' || encode(substring(key_id FOR 6), 'hex'))::bit(48)::bigint AS at_ms
    FROM json_to_recordset(key_rows) AS r (key_id bytea)
  ) AS asked;
  SELECT * INTO decision, answers FROM write_batch_9(of_writer, at_turn, holders, metered_requests, key_rows,
    keyed_requests, bodies, failed_requests, quotas, busy);
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

-- Writes what a key writes; the raised exception then rolls the block back. Whatever stops a commit stops this
-- too: a lock, a missing privilege, a full disk, a read-only server. With `room` it also fills a table of 4
-- MiB, more than a batch of 1,024 keys needs, because on a full disk single rows still fit into partly free
-- pages. The rollback removes that table's file at once. The table is unlogged, because the write-ahead log
-- may be on the same full disk.
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
-- as a commit does, and creates the month's partition if it is missing, as `commit_batch_9` does. Returns true
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
