/** The ledger in PostgreSQL over months and releases: partitions, pruning, migrations, plans. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../src/clock.ts';
import { exportLedger } from '../../../src/ledger/admin.ts';
import { type LedgerStore, Maintenance, type PruneReport } from '../../../src/ledger/index.ts';
import { keyIdBound } from '../../../src/ledger/key-time.ts';
import { type Migration, readMigrations } from '../../../src/ledger/migrations.ts';
import { MovablePostgres } from '../../../src/ledger/move/postgres.ts';
import { CANDIDATES } from '../../../src/ledger/postgres/candidates.ts';
import { lacksMonth } from '../../../src/ledger/postgres/connection.ts';
import { OLDEST_ROW } from '../../../src/ledger/postgres/maintenance.ts';
import {
  migratePostgres,
  openPostgresStore,
  RECORDED_KEYS,
} from '../../../src/ledger/postgres/store.ts';
import { clockContract } from '../../ledger/clock-contract.ts';
import {
  areRecorded,
  keyRequest,
  MONTH,
  makeKeyId,
  makeRow,
  NOW,
  QUOTAS,
} from '../../ledger/contract.ts';
import { logStart } from '../../ledger/log-contract.ts';
import { evidenceAt } from '../../ledger/statistics-contract.ts';
import type { Databases } from '../../support/ledgers/databases.ts';
import { createOldLedger, LAST_OLD, makeOldPostgres } from '../../support/ledgers/old-ledgers.ts';
import { noPostgres } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';

let postgres: Databases;
before(async () => {
  if (noPostgres) return;
  postgres = await sharedPostgres();
  postgres.waitsForLocks = true;
});
after(() => postgres?.remove());

const when = { skip: noPostgres };

const DAY_MS = 86_400_000;
const CLOCK = { nowMs: () => NOW };
const open = (url: string, migrations?: readonly Migration[]): Promise<LedgerStore> =>
  openPostgresStore({ url, quotas: QUOTAS, ...(migrations && { migrations }) });

async function addAccount(store: LedgerStore, accountId = 'acct_e'): Promise<string> {
  await store.addAccount({ accountId, name: 'e', plan: 'enterprise', demo: false, createdMs: NOW });
  return accountId;
}

const rowAt = (atMs: number) => makeRow({ keyId: makeKeyId(atMs), createdMs: atMs });

async function partitionsOf(database: string): Promise<string[]> {
  const rows = await postgres.query(
    database,
    `SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE inhparent = 'ledger'::regclass ORDER BY relname`,
  );
  return rows.map(({ relname }) => String(relname));
}

/** Counts the sessions of a database that wait for locks. */
async function countBlocked(database: string): Promise<number> {
  const waiting =
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
  return (await postgres.query(database, waiting)).length;
}

async function explain(database: string, sql: string): Promise<string> {
  const lines = await postgres.query(database, `EXPLAIN (ANALYZE, COSTS OFF) ${sql}`);
  return lines.map((line) => line['QUERY PLAN']).join('\n');
}

describe('PostgreSQL partitions', when, () => {
  const database = 'months';
  let store: LedgerStore;
  let id: string;

  before(async () => {
    store = await open(await postgres.createLedger(database));
    id = await addAccount(store);
  });
  after(() => store.close());

  it('exist for this and the next two months after a migration, and stay ahead', async () => {
    assert.equal((await partitionsOf(database)).length, 3);
    await postgres.setClock(database, Date.UTC(2031, 10, 30));
    await store.maintain(systemClock);
    const names = await partitionsOf(database);
    assert.deepEqual(names.slice(-3), ['ledger_203111', 'ledger_203112', 'ledger_203201']);
    await store.maintain(systemClock);
    await postgres.setClock(database, NOW);
    assert.equal((await partitionsOf(database)).length, 6);
  });

  it('hold the first and last millisecond of a month, created by a commit if missing', async () => {
    const [first, last] = [Date.UTC(2001, 1, 1), Date.UTC(2001, 2, 1) - 1];
    const rows = [rowAt(first), rowAt(last), rowAt(last + 1), rowAt(0)];
    const outcomes = await store.commit(
      rows.map((row) => keyRequest(id, row)),
      [],
    );
    assert.ok(outcomes.every(({ kind }) => kind === 'committed'));
    const counts = await postgres.query(
      database,
      `SELECT (SELECT count(*)::integer FROM ledger_200102) AS february,
         (SELECT count(*)::integer FROM ledger_200103) AS march,
         (SELECT count(*)::integer FROM ledger_197001) AS first`,
    );
    assert.deepEqual(counts, [{ february: 2, march: 1, first: 1 }]);
  });

  it('are created once if several stores need the same month at the same time', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => open(postgres.url(database))));
    const months = Array.from({ length: 12 }, (_, month) => Date.UTC(2040, month, 5));
    const ends = await Promise.allSettled(
      stores.flatMap((one) => months.map((at) => one.commit([keyRequest(id, rowAt(at))], []))),
    );
    await Promise.all(stores.map((one) => one.close()));
    const kinds = ends.map((end) => (end.status === 'rejected' ? end.reason : end.value[0]?.kind));
    assert.deepEqual(new Set(kinds), new Set(['committed']));
    const made = (await partitionsOf(database)).filter((name) => name.startsWith('ledger_2040'));
    assert.equal(made.length, 12);
  });

  it('are made before a batch holds an account, which others with a new month would wait for', async (t) => {
    const [maker, gate] = [await postgres.connect(database), await postgres.connect(database)];
    t.after(() => Promise.all([maker.end(), gate.end()]));
    // The lock of `ensure_ledger_partition`, and one that stops a batch after it has locked its account.
    await maker.query('BEGIN; SELECT pg_advisory_xact_lock(8099843915917652596)');
    await gate.query('BEGIN; LOCK TABLE validated_keys');
    let isOver = false;
    const committed = store.commit([keyRequest(id, rowAt(Date.UTC(2070, 0, 5)))], []);
    committed.catch(() => {}).finally(() => (isOver = true));
    while (!isOver && (await countBlocked(database)) === 0) await delay(10);
    await maker.query('SELECT FROM accounts FOR NO KEY UPDATE NOWAIT');
    await gate.query('COMMIT');
    await maker.query('COMMIT');
    assert.equal((await committed)[0]?.kind, 'committed');
  });

  it('that another server just made are found by the next attempt, and others are refused at last', async () => {
    // A session may see that the month is there, and not yet know it: simulated, because it takes microseconds.
    await postgres.query(
      database,
      `CREATE SEQUENCE attempts;
       ALTER FUNCTION ensure_ledger_partition(bigint) RENAME TO make_ledger_partition;
       CREATE FUNCTION ensure_ledger_partition(at_ms bigint) RETURNS void LANGUAGE plpgsql AS $$
       BEGIN
         IF nextval('attempts') > 2 THEN PERFORM make_ledger_partition(at_ms); END IF;
       END $$`,
    );
    const commitAt = (at: number) => store.commit([keyRequest(id, rowAt(at))], []);
    const [outcome] = await commitAt(Date.UTC(2060, 0, 5));
    assert.equal(outcome?.kind, 'committed');
    await postgres.query(database, 'ALTER SEQUENCE attempts MINVALUE -9 RESTART -9');
    await assert.rejects(commitAt(Date.UTC(2061, 0, 5)), { code: 'ledger_unavailable' });
    await postgres.query(
      database,
      `DROP FUNCTION ensure_ledger_partition; DROP SEQUENCE attempts;
       ALTER FUNCTION make_ledger_partition(bigint) RENAME TO ensure_ledger_partition`,
    );
    const [later] = await commitAt(Date.UTC(2061, 0, 5));
    assert.equal(later?.kind, 'committed');
  });

  it('that are missing are told from other rules that a row breaks', async () => {
    await postgres.query(
      database,
      `CREATE SCHEMA told; CREATE TABLE told.month (at integer CHECK (at > 0)) PARTITION BY RANGE (at);
       CREATE TABLE told.first PARTITION OF told.month FOR VALUES FROM (-9) TO (9)`,
    );
    const errorOf = (at: number) =>
      postgres.query(database, `INSERT INTO told.month VALUES (${at})`).catch((error) => error);
    assert.equal(lacksMonth(await errorOf(10)), true);
    assert.equal(lacksMonth(await errorOf(-1)), false);
    assert.equal(lacksMonth(new Error('no answer')), false);
    await postgres.query(database, 'DROP SCHEMA told CASCADE');
  });

  it('are created beside an open transaction on the ledger and block no commit', async () => {
    const busy = await postgres.connect(database);
    await busy.query('BEGIN; DELETE FROM ledger WHERE false');
    await postgres.query(database, `SELECT ensure_ledger_partition(${Date.UTC(2050, 0)})`);
    await busy.query('COMMIT');
    // The month of the row must exist, whatever today's date is.
    await store.maintain(CLOCK);
    const maker = await postgres.connect(database);
    await maker.query(`BEGIN; SELECT ensure_ledger_partition(${Date.UTC(2051, 0)})`);
    assert.equal((await store.commit([keyRequest(id, rowAt(NOW))], [])).length, 1);
    await maker.query('ROLLBACK');
    await maker.end();
    await busy.end();
  });

  it('refuse a key if another month holds its commitment', async () => {
    const first = rowAt(Date.UTC(2001, 1, 3));
    const { commitment } = first;
    await store.commit([keyRequest(id, first)], []);
    const again = { ...rowAt(NOW), commitment };
    const [outcome] = await store.commit([keyRequest(id, again)], []);
    assert.equal(outcome?.kind, 'repeated_key');
  });

  it('are searched by key ID in one partition, by commitment through each index', async () => {
    const keyId = Buffer.from(makeKeyId(NOW)).toString('hex');
    const byId = await explain(database, RECORDED_KEYS.replace('$1', `'{"\\\\x${keyId}"}'`));
    const executed = byId.split('\n').filter((line) => /ledger_\d{6}/.test(line));
    assert.equal(executed.filter((line) => !line.includes('never executed')).length, 1, byId);
    const byCommitment = await explain(database, CANDIDATES.replace('$1', "'{1}'"));
    const scans = byCommitment.match(/\w+ Scan using ledger_\d{6}_commitment/g) ?? [];
    assert.equal(scans.length, (await partitionsOf(database)).length, byCommitment);
  });

  it('are not scanned for the oldest row if no row is out of date', async () => {
    await postgres.query(
      database,
      `INSERT INTO ledger (key_id, fingerprint, commitment, secret_version, account_id, api_key_id,
         security_level, modulation, source, created_ms, latency_us, entropy_bits)
       SELECT decode(rpad(lpad(to_hex(${NOW}::bigint + n), 12, '0'), 32, '0'), 'hex'), n,
         sha256(int4send(n)), 1, 'acct_e', 'k', 256, 'p', 'os', ${NOW}::bigint + n, 1, 1
       FROM generate_series(1, 2000) AS n; ANALYZE ledger`,
    );
    const goal = NOW - 60_000;
    const bound = `'\\x${Buffer.from(keyIdBound(goal)).toString('hex')}'::bytea`;
    const plan = await explain(
      database,
      OLDEST_ROW.replaceAll('$1', bound).replaceAll('$2', `${goal}`),
    );
    assert.match(plan, /Index Cond: \(key_id < /);
    const month = plan.slice(plan.indexOf('ledger_202611'));
    assert.match(month, /^\S+ .*rows=0\b/, plan);
    assert.doesNotMatch(month, /Rows Removed by Filter: \d{3}/, plan);
  });

  it('let a store continue after its row in `writers` was removed', async () => {
    assert.equal((await store.commit([keyRequest(id)], [])).length, 1);
    await postgres.query(database, "UPDATE writers SET used_at = now() - interval '40 days'");
    await store.maintain(CLOCK);
    assert.deepEqual(await postgres.query(database, 'SELECT FROM writers'), []);
    const [outcome] = await store.commit([keyRequest(id)], []);
    assert.equal(outcome?.kind, 'committed');
    await store.maintain(CLOCK);
    assert.equal((await postgres.query(database, 'SELECT FROM writers')).length, 1);
  });
});

clockContract(
  'PostgreSQL',
  async () => open(await postgres.createLedger('clock')),
  () => postgres.query('clock', 'TRUNCATE ledger, validated_keys, rollup_minute, usage'),
  (atMs) => postgres.setClock('clock', atMs),
  when,
);

describe('PostgreSQL pruning', when, () => {
  const database = 'pruned';
  const beforeMs = Date.UTC(2026, 8, 15, 7);
  let store: LedgerStore;

  /** Inserts rows of June to September; three of them are of the boundary month, after the time. */
  async function fill(): Promise<Uint8Array[]> {
    const id = await addAccount(store);
    const times = [
      Date.UTC(2026, 5, 1),
      Date.UTC(2026, 6, 9),
      beforeMs - 10 * DAY_MS,
      beforeMs - 1,
    ];
    const kept = [beforeMs, beforeMs + 1, beforeMs + DAY_MS];
    const rows = [...times, ...kept].map(rowAt);
    const requests = rows.map((row) => keyRequest(id, row, row.createdMs));
    const tested = [...times, ...kept].map((atMs, i) => evidenceAt('acct_v', atMs, i));
    await addAccount(store, 'acct_v');
    await store.commit(tested, []);
    await store.commit([...requests, keyRequest(id, rowAt(NOW), NOW - 400 * DAY_MS)], []);
    return rows.map(({ keyId }) => keyId);
  }

  before(async () => {
    store = await open(await postgres.createLedger(database));
    await postgres.setClock(database, NOW);
  });
  after(() => store.close());

  it('counts rows, drops one whole month per run, and deletes the rest by time', async () => {
    const keyIds = await fill();
    const order = { keepMs: NOW - beforeMs, clock: CLOCK, dryRun: false };
    const whole = ['ledger_202606', 'ledger_202607'];
    const [july, august] = [Date.UTC(2026, 6), Date.UTC(2026, 7)];
    assert.deepEqual(await store.prune({ ...order, dryRun: true }), {
      rows: 8,
      minuteSums: 1,
      partitions: whole,
      beforeMs: july,
      isPartial: true,
    });
    assert.ok((await areRecorded(store, keyIds)).every((found) => found));
    const pValues = async () =>
      (await store.keyEvidence('acct_v', 10)).map(({ pValues: [first] }) => first);
    assert.deepEqual(await pValues(), [0, 1, 2, 3, 4, 5, 6]);
    const turns: PruneReport[] = [];
    for (let i = 0; i < 4; i++) turns.push(await store.prune(order));
    const end = { minuteSums: 0, partitions: [], beforeMs, isPartial: false };
    assert.deepEqual(turns, [
      { rows: 2, minuteSums: 1, partitions: ['ledger_202606'], beforeMs: july, isPartial: true },
      { rows: 2, minuteSums: 0, partitions: ['ledger_202607'], beforeMs: august, isPartial: true },
      { ...end, rows: 4 },
      { ...end, rows: 0 },
    ]);
    assert.deepEqual(await pValues(), [4, 5, 6]);
    assert.deepEqual(await areRecorded(store, keyIds), [
      false,
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
    assert.equal((await store.activity('acct_e', NOW - 500 * DAY_MS)).keys, 8, 'hour sums stay');
  });

  it('runs on several servers at once and removes each row once', async () => {
    const stores = await Promise.all([1, 2].map(() => open(postgres.url(database))));
    const rows = Array.from({ length: 9_000 }, () => rowAt(beforeMs - 1));
    for (let i = 0; i < rows.length; i += 1_000) {
      await store.commit(
        rows.slice(i, i + 1_000).map((row) => keyRequest('acct_e', row)),
        [],
      );
    }
    const reports = await Promise.all(
      stores.map((one) => one.prune({ keepMs: NOW - beforeMs, clock: CLOCK, dryRun: false })),
    );
    assert.equal(
      reports.reduce((sum, report) => sum + report.rows, 0),
      rows.length,
    );
    await Promise.all(stores.map((one) => one.close()));
  });

  it('drops a month once if two servers prune at the same time', async () => {
    const month = Date.UTC(2025, 4);
    await postgres.query(database, `SELECT ensure_ledger_partition(${month})`);
    const [reader, ...servers] = await Promise.all([0, 1, 2].map(() => postgres.connect(database)));
    await reader?.query('BEGIN; SELECT FROM ledger_202505');
    const drop = `SELECT drop_ledger_partition('ledger_202505', ${beforeMs}) AS rows`;
    const dropped = Promise.allSettled(servers.map((server) => server.query(drop)));
    const waiting = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ledger_202505%'`;
    while ((await postgres.query(database, waiting)).length < 2) await delay(10);
    await reader?.query('COMMIT');
    const ends = (await dropped).map((end) =>
      end.status === 'fulfilled' ? end.value.rows : end.reason.code,
    );
    assert.deepEqual(ends.sort(), [[{ rows: '0' }], '42P01'].sort());
    await Promise.all([reader, ...servers].map((session) => session?.end()));
  });

  it('runs as part of a server’s upkeep', async () => {
    const row = rowAt(beforeMs - DAY_MS);
    await store.commit([keyRequest('acct_e', row)], []);
    await postgres.setClock(database, null);
    const { report, maintenance } = await new Promise<{
      report: PruneReport;
      maintenance: Maintenance;
    }>((done, fail) => {
      const maintenance: Maintenance = new Maintenance({
        store: { kind: 'postgres', url: postgres.url(database) },
        retentionDays: Math.floor((Date.now() - beforeMs) / DAY_MS),
        onPruned: (report) => done({ report, maintenance }),
        onFailure: (message) => fail(new Error(message)),
        firstMs: 0,
      });
    });
    await maintenance.stop();
    assert.ok(report.rows > 0);
    assert.deepEqual(await areRecorded(store, [row.keyId]), [false]);
  });
});

/** Migrations that a later release could bring: they only add. */
const NEXT: Migration[] = [
  ...readMigrations('postgres'),
  {
    version: 900,
    sql: `-- oldest-program: 6
      ALTER TABLE ledger ADD COLUMN tomorrow text;
      CREATE TABLE tomorrow (id integer PRIMARY KEY);
      CREATE FUNCTION tomorrow() RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
  },
];

describe('PostgreSQL migrations', when, () => {
  it('run once if several programs start at the same time', async () => {
    const url = await postgres.createDatabase('together');
    await assert.rejects(open(url), { name: 'SetupError', message: /no ledger yet.*phm migrate/ });
    const changes = await Promise.all([1, 2, 3].map(() => migratePostgres(url)));
    const { version } = readMigrations('postgres').at(-1) ?? { version: 0 };
    assert.ok(changes.every(({ to }) => to === version));
    assert.ok(changes.some(({ from }) => from === 0));
    const versions = await postgres.query('together', 'SELECT version FROM schema_version');
    assert.deepEqual(versions, [{ version }]);
    assert.deepEqual(await migratePostgres(url), { from: version, to: version, program: version });
    await (await open(url)).close();
  });

  it('refuse a program that lacks them or is too old for them', async () => {
    const url = await postgres.createLedger('newer');
    const needy = [
      ...readMigrations('postgres'),
      { version: 900, sql: '-- oldest-program: 900\nCREATE TABLE tomorrow (id integer)' },
      { version: 901, sql: '-- oldest-program: 6\nCREATE TABLE later (id integer)' },
    ];
    await assert.rejects(open(url, needy), {
      name: 'SetupError',
      message: /needs version 901\. .*PHM_MIGRATE=auto, or run: phm migrate$/,
    });
    await migratePostgres(url, needy);
    const refusal = {
      name: 'SetupError',
      message:
        /schema version 901, newer than this program's \d+, and needs programs of version 900;/,
    };
    await assert.rejects(open(url), refusal);
    await assert.rejects(migratePostgres(url), refusal);
    await (await open(url, needy)).close();
  });

  it('run beside servers of the previous release, which continue with the new schema', async () => {
    const url = await postgres.createLedger('rolling');
    const old = await open(url);
    const id = await addAccount(old);
    let running = true;
    const committed: Uint8Array[] = [];
    const load = async (store: LedgerStore) => {
      while (running) {
        const rows = [makeRow(), makeRow()];
        const outcomes = await store.commit(
          rows.map((row) => keyRequest(id, row)),
          [],
        );
        assert.ok(outcomes.every(({ kind }) => kind === 'committed'));
        committed.push(...rows.map(({ keyId }) => keyId));
      }
    };
    const loads = [load(old)];
    const until = async (count: number) => {
      while (committed.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await until(20);
    assert.deepEqual(await migratePostgres(url, NEXT), {
      from: readMigrations('postgres').at(-1)?.version,
      to: 900,
      program: 900,
    });
    const next = await open(url, NEXT);
    loads.push(load(next), load(old));
    await until(committed.length + 60);
    running = false;
    await Promise.all(loads);
    assert.ok((await areRecorded(old, committed)).every((found) => found));
    const [books] = await postgres.query(
      'rolling',
      `SELECT (SELECT count(*) FROM ledger)::integer AS rows, used::integer FROM usage`,
    );
    assert.deepEqual(books, { rows: committed.length, used: committed.length });
    await Promise.all([old.close(), next.close()]);
    await startsAgain(url, id);
  });
});

/**
 * Shows that a program which does not know the newest schema can open and use it, leaves it unchanged, and
 * refuses to export it.
 */
async function startsAgain(url: string, accountId: string): Promise<void> {
  const program = readMigrations('postgres').at(-1)?.version;
  assert.deepEqual(await migratePostgres(url), { from: 900, to: 900, program });
  const warnings: string[] = [];
  const again = await openPostgresStore({
    url,
    quotas: QUOTAS,
    warn: (text) => warnings.push(text),
  });
  assert.match(
    warnings[0] ?? '',
    /^a newer release has brought the schema to version 900; .* works with it$/,
  );
  assert.equal((await again.commit([keyRequest(accountId)], []))[0]?.kind, 'committed');
  await again.maintain(CLOCK);
  await again.prune({ keepMs: 400 * DAY_MS, clock: systemClock, dryRun: false });
  await again.close();
  const exported = exportLedger(
    new MovablePostgres(url),
    NOW,
    async () => {},
    new AbortController().signal,
  );
  await assert.rejects(exported, {
    name: 'SetupError',
    message: /; export with the newer release$/,
  });
}

/** The writer of `commitAsBefore`. */
const WRITER = '00000000-0000-4000-8000-000000000000';

/** Commits a key as a server of an earlier schema does, by default of the second. Returns its ID. */
async function commitAsBefore(
  database: string,
  turn: number,
  atMs: number,
  commit = 'commit_batch',
): Promise<Uint8Array> {
  const row = rowAt(atMs);
  const hex = (bytes: Uint8Array) => `\\x${Buffer.from(bytes).toString('hex')}`;
  const request = {
    position: 0,
    account_id: 'acct_e',
    api_key_id: 'key_acct_e',
    at_ms: atMs,
    month: MONTH,
    streams: 1,
    streams_passed: 1,
    key_id: hex(row.keyId),
    fingerprint: String(row.commitment.fingerprint),
    commitment: hex(row.commitment.digest),
    secret_version: 1,
    security_level: 256,
    modulation: 'phase',
    source: 'os',
    created_ms: atMs,
    latency_us: row.latencyUs,
    entropy_bits: 255,
    entropy_job_id: null,
    gate_p: 1,
    tests_passed: 15,
    total_tests: 15,
  };
  await postgres.query(
    database,
    `INSERT INTO writers (writer_id, turn) VALUES ('${WRITER}', 0) ON CONFLICT DO NOTHING;
     SELECT ${commit}('${WRITER}', ${turn}, '{acct_e}', '[${JSON.stringify(request)}]', '[]',
       '{"enterprise": null}')`,
  );
  return row.keyId;
}

describe('PostgreSQL with a server of the eighth schema version', when, () => {
  it('records its keys and probes beside a log, without receipts and entries', async () => {
    const database = 'eighth';
    const store = await open(await createOldLedger(postgres, database));
    await addAccount(store);
    const { logId } = await store.startLog(logStart('eighth.example'));
    const keyId = await commitAsBefore(database, 1, NOW, 'commit_batch_4');
    const [probed] = await postgres.query(
      database,
      `SELECT probe_commit('${WRITER}', 2, '{}', false) AS locked`,
    );
    assert.equal(probed?.locked, false);
    assert.equal((await store.findRecord(keyId))?.receipt, null);
    assert.equal(await store.findLogged(keyId), null);
    assert.equal((await store.logCounts(logId)).pending, 0);
    await store.close();
  });
});

describe('PostgreSQL with a server of the second schema version', when, () => {
  it('counts its keys in all sums except latencies, and stores no p-values', async () => {
    const database = 'second';
    const url = await postgres.createDatabase(database);
    await makeOldPostgres(postgres, database, 2);
    await postgres.query(database, `SELECT ensure_ledger_partition(${NOW})`);
    await postgres.query(
      database,
      "INSERT INTO accounts VALUES ('acct_e', 'e', 'enterprise', false, 1)",
    );
    const minuteMs = 60_000;
    const startMs = Math.floor(NOW / minuteMs) * minuteMs;
    await commitAsBefore(database, 1, startMs);
    await makeOldPostgres(postgres, database, LAST_OLD, 2);
    await migratePostgres(url);
    const store = await open(url);
    await commitAsBefore(database, 2, startMs + minuteMs);
    for (const minute of [1, 2]) {
      await store.commit([evidenceAt('acct_e', startMs + minute * minuteMs, minute)], []);
    }
    await commitAsBefore(database, 3, startMs + 3 * minuteMs);
    await store.commit([evidenceAt('acct_e', startMs + 2 * minuteMs, 3)], []);
    const query = { accountId: 'acct_e', startMs, stepMinutes: 1, steps: 4 };
    const sums = await store.series(query);
    assert.deepEqual(
      sums.map(({ keys, streams, latencies }) => [keys, streams, latencies?.at(-1)]),
      [
        [1, 1, undefined],
        [2, 2, undefined],
        [2, 2, 2],
        [1, 1, undefined],
      ],
    );
    assert.equal((await store.keyEvidence('acct_e', 10)).length, 3);
    assert.equal((await store.activity('acct_e', startMs)).keys, 6);
    await store.close();
  });

  it('reads an account’s last keys with evidence through the primary key, without sorting', async () => {
    await postgres.query(
      'second',
      `INSERT INTO validated_keys SELECT 'acct_' || a, decode(lpad(to_hex(n), 32, '0'), 'hex'), ''
       FROM generate_series(1, 9) AS a, generate_series(1, 2000) AS n; ANALYZE validated_keys`,
    );
    const plan = await explain(
      'second',
      `SELECT key_id, p_values FROM validated_keys
       WHERE account_id = 'acct_3' ORDER BY key_id DESC LIMIT 100`,
    );
    assert.match(plan, /Index Scan Backward using validated_keys_pkey/);
    assert.match(plan, /actual[^)]* rows=100\b/);
    assert.doesNotMatch(plan, /Sort|Seq Scan/);
  });
});

describe('PostgreSQL sums', when, () => {
  it('of a year are read through primary keys', async () => {
    await postgres.createLedger('sums');
    const columns =
      'account_id, period, keys, latency_us, streams, streams_passed, metered, failures';
    await postgres.query(
      'sums',
      `INSERT INTO rollup_hour (${columns}) SELECT 'acct_' || a, p, 1, 1, 0, 0, 1, 0
       FROM generate_series(1, 4) AS a, generate_series(1, 8760) AS p;
       INSERT INTO rollup_minute (${columns}) SELECT 'acct_' || a, p, 1, 1, 0, 0, 1, 0
       FROM generate_series(1, 4) AS a, generate_series(1, 9000) AS p; ANALYZE`,
    );
    const plan = await explain(
      'sums',
      `SELECT sum(keys) FROM (
         SELECT keys FROM rollup_hour WHERE account_id = 'acct_3' AND period >= 1
         UNION ALL SELECT keys FROM rollup_minute
         WHERE account_id = 'acct_3' AND period >= 1 AND period < 60) AS sums`,
    );
    assert.match(plan, /rollup_hour_pkey/);
    assert.match(plan, /rollup_minute_pkey/);
    assert.doesNotMatch(plan, /Seq Scan/);
  });
});
