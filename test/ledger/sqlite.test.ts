import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it, mock } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { copyDatabase, exportLedger } from '../../src/ledger/admin.ts';
import {
  type LedgerStore,
  Maintenance,
  openSqliteStore,
  type PruneReport,
} from '../../src/ledger/index.ts';
import { newestVersion, readMigrations } from '../../src/ledger/migrations.ts';
import { MovableSqlite } from '../../src/ledger/move/sqlite.ts';
import { SqliteConnection } from '../../src/ledger/sqlite/connection.ts';
import { findUnindexed } from '../../src/ledger/sqlite/fingerprint-check.ts';
import { CANDIDATES } from '../../src/ledger/sqlite/fingerprints.ts';
import { inspectSqlite } from '../../src/ledger/sqlite/inspect.ts';
import { migrateDatabase } from '../../src/ledger/sqlite/schema.ts';
import { SqliteStore } from '../../src/ledger/sqlite/store.ts';
import { WriteGate } from '../../src/ledger/sqlite/write-gate.ts';
import { LAST_OLD, makeOldSqlite, oldMigrations } from '../support/ledgers/old-ledgers.ts';
import { accountsContract } from './accounts-contract.ts';
import { apiKeysContract } from './api-keys-contract.ts';
import { clockContract } from './clock-contract.ts';
import {
  areRecorded,
  keyRequest,
  ledgerContract,
  makeKeyId,
  makeRow,
  NOW,
  QUOTAS,
} from './contract.ts';
import { deliveriesContract } from './deliveries-contract.ts';
import { auditRecord } from './log-contract.ts';
import { recordsContract } from './records-contract.ts';
import { batchOf, record, seal, sealingContract } from './sealing-contract.ts';
import { evidenceAt, statisticsContract } from './statistics-contract.ts';

const directory = mkdtempSync(join(tmpdir(), 'phm-ledger-'));
const removeDirectory = async () => rmSync(directory, { recursive: true, force: true });
const open = (file: string): LedgerStore =>
  openSqliteStore({ path: join(directory, file), quotas: QUOTAS });

/** Listens to the statements of every connection. */
function tap(seen: (parameters: readonly unknown[]) => void): () => void {
  const methods = (['get', 'all', 'run'] as const).map((name) => {
    const original = SqliteConnection.prototype[name] as (...all: unknown[]) => unknown;
    return mock.method(
      SqliteConnection.prototype,
      name,
      function (this: SqliteConnection, ...all: unknown[]) {
        seen(all.slice(1));
        return original.apply(this, all);
      },
    );
  });
  return () => {
    for (const method of methods) method.mock.restore();
  };
}

/** A migration that a later release could bring: it only adds. */
const COMPATIBLE = `-- oldest-program: 6
  ALTER TABLE ledger ADD COLUMN tomorrow TEXT; CREATE TABLE tomorrow (id INTEGER)`;

function emptyLedger(file: string): void {
  const database = new DatabaseSync(join(directory, file));
  const tables = ['ledger', 'validated_keys', 'rollup_minute', 'usage', 'clock_check'];
  database.exec(tables.map((table) => `DELETE FROM ${table};`).join(''));
  database.close();
}

const NEVER = new AbortController().signal;

ledgerContract(
  'SQLite',
  async () => open('contract.db'),
  async () => {},
  tap,
  async () => {},
);

ledgerContract(
  'SQLite, which merges its index all the time',
  async () => {
    const connection = new SqliteConnection(join(directory, 'merging.db'));
    return new SqliteStore(connection, QUOTAS, { entries: 5, commits: 3 });
  },
  async () => {},
  tap,
  async () => {},
);

clockContract(
  'SQLite',
  async () => open('clock.db'),
  async () => emptyLedger('clock.db'),
  async () => {},
);

statisticsContract(
  'SQLite',
  async () => open('statistics.db'),
  async (sql) => {
    const database = new DatabaseSync(join(directory, 'statistics.db'));
    database.exec(sql);
    database.close();
  },
);

sealingContract(
  'SQLite',
  async () => open('sealing.db'),
  async () => {},
  async (sql) => {
    const database = new DatabaseSync(join(directory, 'sealing.db'));
    const rows = database.prepare(sql).all();
    database.close();
    return rows;
  },
);

apiKeysContract('SQLite', {
  open: async () => open('api-keys.db'),
  setClock: async () => {},
});

/** Sees the commits of the stores of key records. */
let watcher: DatabaseSync | undefined;
after(() => watcher?.close());

recordsContract('SQLite', {
  open: async () => open('records.db'),
  setClock: async () => {},
  ask: async (sql) => {
    const database = new DatabaseSync(join(directory, 'records.db'));
    const rows = database.prepare(sql).all();
    database.close();
    return rows;
  },
  writes: async () => {
    watcher ??= new DatabaseSync(join(directory, 'records.db'));
    return watcher.prepare('PRAGMA data_version').get()?.data_version;
  },
  tap,
});

deliveriesContract('SQLite', {
  open: async () => open('deliveries.db'),
  setClock: async () => {},
  ask: async (sql) => {
    const database = new DatabaseSync(join(directory, 'deliveries.db'));
    const rows = database.prepare(sql).all();
    database.close();
    return rows;
  },
  tap,
});

accountsContract('SQLite', {
  open: async () => open('accounts.db'),
  ask: async (sql) => {
    const database = new DatabaseSync(join(directory, 'accounts.db'));
    const rows = database.prepare(sql).all();
    database.close();
    return rows;
  },
});

async function addEnterprise(store: LedgerStore): Promise<string> {
  await store.addAccount({
    accountId: 'acct_e',
    name: 'e',
    plan: 'enterprise',
    demo: false,
    createdMs: NOW,
  });
  return 'acct_e';
}

after(removeDirectory);

/**
 * A connection that waits 50 ms for the write lock. The test of the settings shows how long other
 * connections wait.
 */
class ImpatientConnection extends SqliteConnection {
  override begin(): void {
    super.begin(50);
  }
}

describe('SQLite store', () => {
  it('answers ledger_unavailable and keeps nothing while it cannot write, then recovers', async () => {
    const path = join(directory, 'blocked.db');
    const store = new SqliteStore(new ImpatientConnection(path), QUOTAS);
    const id = await addEnterprise(store);
    const blocker = new DatabaseSync(path);
    // A writer that holds the lock beyond the timeout stands in for any database that cannot write.
    blocker.exec('BEGIN IMMEDIATE');
    const row = makeRow();
    await assert.rejects(
      store.commit([keyRequest(id, row)], []),
      (error) =>
        error instanceof AppError &&
        error.code === 'ledger_unavailable' &&
        error.details.retryAfterSeconds === 5,
    );
    blocker.exec('ROLLBACK');
    blocker.close();
    assert.deepEqual(await areRecorded(store, [row.keyId]), [false]);
    assert.equal((await store.commit([keyRequest(id, row)], []))[0]?.kind, 'committed');
    await store.close();
  });

  const strangers: readonly (readonly [string, string, string])[] = [
    [
      'a trigger that drops rows',
      'CREATE TRIGGER dropper BEFORE INSERT ON ledger BEGIN SELECT RAISE(IGNORE); END',
      'DROP TRIGGER dropper',
    ],
    [
      'a view in the place of a table',
      'ALTER TABLE key_states RENAME TO states; CREATE VIEW key_states AS SELECT * FROM states WHERE 0',
      'DROP VIEW key_states; ALTER TABLE states RENAME TO key_states',
    ],
  ];
  for (const [name, begin, end] of strangers) {
    it(`refuses all work while it has ${name}`, async () => {
      const path = join(directory, `stranger_${begin.length}.db`);
      const store = openSqliteStore({ path, quotas: QUOTAS });
      const id = await addEnterprise(store);
      const row = makeRow();
      const other = new DatabaseSync(path);
      other.exec(begin);
      const message =
        /rows of the ledger can be missing or wrong: .*(trigger dropper|view key_states)/;
      const isRefused = (error: unknown) =>
        error instanceof AppError &&
        error.code === 'ledger_unavailable' &&
        message.test((error.cause as Error).message);
      await assert.rejects(store.commit([keyRequest(id, row)], []), isRefused);
      await assert.rejects(store.findStates([row.commitment]), isRefused);
      await assert.rejects(store.probe({ accountIds: [], room: false }), isRefused);
      assert.throws(() => openSqliteStore({ path, quotas: QUOTAS }), {
        name: 'SetupError',
        message,
      });
      const inspection = await inspectSqlite(path);
      assert.equal(inspection?.faults.filter(({ isGrave }) => isGrave).length, 1);
      other.exec(end);
      other.close();
      assert.equal((await store.commit([keyRequest(id, row)], []))[0]?.kind, 'committed');
      await store.close();
    });
  }

  it('keeps the quota exact when two processes share the file', async () => {
    const [one, two] = [open('shared.db'), open('shared.db')];
    await one.addAccount({ accountId: 'a', name: 'a', plan: 'tiny', demo: false, createdMs: NOW });
    const outcomes = [
      ...(await one.commit([keyRequest('a'), keyRequest('a')], [])),
      ...(await two.commit([keyRequest('a'), keyRequest('a')], [])),
    ];
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['committed', 'committed', 'committed', 'quota_exceeded'],
    );
    await one.close();
    await two.close();
  });

  it('writes a page for a repeated change, so that the commit of the repetition confirms it', async () => {
    const store = open('repeated.db');
    const id = await addEnterprise(store);
    const key = { apiKeyId: 'key_r', accountId: id, hint: 'h', createdMs: NOW, revokedMs: null };
    await store.addApiKey(key, randomBytes(32));
    const seen = new DatabaseSync(join(directory, 'repeated.db'));
    const version = () => seen.prepare('PRAGMA data_version').get()?.data_version;
    const suspension = { accountId: id, to: 'suspended', after: null, atMs: NOW } as const;
    const changes = [
      () => store.setPlan(id, 'tiny'),
      () => store.revokeApiKey('key_r', NOW),
      () =>
        store.changeAccountState(suspension, { ...auditRecord(null), action: 'account_suspended' }),
    ];
    for (const change of changes) {
      for (const time of ['first', 'second', 'third']) {
        const before = version();
        await change();
        assert.notEqual(version(), before, `${change}, ${time} time`);
      }
    }
    seen.close();
    await store.close();
  });

  it('keeps rows across a restart', async () => {
    const first = open('restart.db');
    const id = await addEnterprise(first);
    const row = makeRow();
    await first.commit([keyRequest(id, row)], []);
    await first.close();
    const second = open('restart.db');
    assert.deepEqual(await areRecorded(second, [row.keyId]), [true]);
    await second.close();
  });

  it('refuses a database of a newer release and names the reason', async () => {
    const path = join(directory, 'newer.db');
    await open('newer.db').close();
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 999');
    database.close();
    assert.throws(() => open('newer.db'), {
      name: 'SetupError',
      message: /schema version 999, newer/,
    });
  });

  it('refuses a file that is not a database and names it', () => {
    writeFileSync(join(directory, 'text.db'), 'no database at all, only text\n'.repeat(100));
    assert.throws(() => open('text.db'), { name: 'SetupError', message: /text\.db/ });
  });

  it('finds commitments through the fingerprint index', () => {
    const database = new DatabaseSync(join(directory, 'restart.db'));
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${CANDIDATES}`).all(1);
    const steps = JSON.stringify(plan);
    assert.match(steps, /SEARCH ledger USING PRIMARY KEY \(key_id=\?\)/);
    assert.match(steps, /SEARCH fingerprints USING PRIMARY KEY \(fingerprint=\?\)/);
    database.close();
  });

  it('syncs the log at every commit and enforces foreign keys, on its own connection', () => {
    const connection = new SqliteConnection(join(directory, 'pragmas.db'));
    const read = (name: string) => Object.values(connection.get(`PRAGMA ${name}`) ?? {})[0];
    assert.equal(read('journal_mode'), 'wal');
    assert.equal(read('synchronous'), 2, 'FULL');
    assert.equal(read('foreign_keys'), 1);
    assert.equal(read('wal_autocheckpoint'), 8_000);
    assert.equal(read('busy_timeout'), 5_000);
    connection.close();
  });

  it('empties a long log beside another connection, which then begins it anew', () => {
    const path = join(directory, 'emptied.db');
    const gate = new WriteGate(WriteGate.allocate());
    const [writer, copier] = [0, 1].map(() => new SqliteConnection(path, { gate }));
    const write = () => writer.transact(() => writer.run('PRAGMA user_version = 14'));
    const log = () => ({ ...writer.get('PRAGMA wal_checkpoint(NOOP)') });
    write();
    const { log: pages } = log();
    copier.emptyLog(Number(pages) + 1);
    assert.deepEqual(log(), { busy: 0, log: pages, checkpointed: 0 }, 'a short log stays');
    copier.emptyLog(Number(pages));
    assert.deepEqual(log(), { busy: 0, log: pages, checkpointed: pages });
    write();
    assert.deepEqual(log(), { busy: 0, log: 1, checkpointed: 0 });
    for (const one of [writer, copier]) one.close();
    assert.doesNotThrow(() => copier.emptyLog(1), 'a closed connection opens again');
    copier.close();
  });
});

/** A connection whose next COMMIT fails, before or after it has taken effect. */
class FailingConnection extends SqliteConnection {
  failNext: 'before' | 'after' | null = null;

  override commit(): void {
    const fail = this.failNext;
    this.failNext = null;
    if (fail !== 'before') super.commit();
    if (fail !== null) throw new Error(`staged: commit failed ${fail} it took effect`);
  }
}

/** A connection on which commits can be made to fail, as with a limit on the size of the file. */
class FullConnection extends SqliteConnection {
  full = false;
  commits = 0;

  override commit(): void {
    if (this.full) throw new Error('staged: database or disk is full');
    this.commits += 1;
    super.commit();
  }
}

describe('the probe of a SQLite store', () => {
  it('commits only to check for space, and fails if there is none', async () => {
    const connection = new FullConnection(join(directory, 'full.db'));
    const store = new SqliteStore(connection, QUOTAS);
    await store.registerSecret(1, Buffer.alloc(32), 1);
    await store.probe({ accountIds: [], room: false });
    assert.equal(connection.commits, 0);
    connection.full = true;
    await store.probe({ accountIds: [], room: false });
    const thorough = { accountIds: [], room: true };
    await assert.rejects(store.probe(thorough), { code: 'ledger_unavailable' });
    connection.full = false;
    const begin = mock.method(connection, 'begin');
    await store.probe(thorough);
    assert.equal(connection.commits, 1);
    assert.equal(begin.mock.callCount(), 1, 'it waits for the lock once');
    begin.mock.restore();
    await store.close();
  });

  it('waits less time for the write lock than a commit does', async () => {
    const path = join(directory, 'locked.db');
    const connection = new SqliteConnection(path);
    const store = new SqliteStore(connection, QUOTAS);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const { exec } = DatabaseSync.prototype;
    const run = mock.method(
      DatabaseSync.prototype,
      'exec',
      function (this: DatabaseSync, sql: string) {
        exec.call(this, sql.replace('2000', '20'));
      },
    );
    await assert.rejects(store.probe({ accountIds: [], room: false }), {
      code: 'ledger_unavailable',
    });
    run.mock.restore();
    other.exec('ROLLBACK');
    other.close();
    assert.equal(run.mock.calls[0]?.arguments[0], 'PRAGMA busy_timeout = 2000');
    assert.equal(connection.get('PRAGMA busy_timeout')?.timeout, 5_000);
    await store.close();
  });

  it('fails while the file is missing', async () => {
    const path = join(directory, 'away.db');
    const store = openSqliteStore({ path, quotas: QUOTAS });
    await store.probe({ accountIds: [], room: false });
    renameSync(path, `${path}.away`);
    await assert.rejects(store.probe({ accountIds: [], room: false }), {
      code: 'ledger_unavailable',
    });
    renameSync(`${path}.away`, path);
    await store.probe({ accountIds: [], room: true });
    await store.close();
  });
});

describe('SQLite store with a failing COMMIT', () => {
  for (const moment of ['before', 'after'] as const) {
    it(`answers ledger_unavailable if it fails ${moment} it took effect, then recovers`, async () => {
      const connection = new FailingConnection(join(directory, `fails-${moment}.db`));
      const store = new SqliteStore(connection, QUOTAS);
      const id = await addEnterprise(store);
      const [lost, next] = [makeRow(), makeRow()];
      connection.failNext = moment;
      await assert.rejects(store.commit([keyRequest(id, lost)], []), {
        code: 'ledger_unavailable',
      });
      // Durable or not, the caller was refused. What the file holds is counted once or not at all.
      const [recorded] = await areRecorded(store, [lost.keyId]);
      assert.equal(recorded, moment === 'after');
      const [outcome] = await store.commit([keyRequest(id, next)], []);
      assert.equal(outcome?.kind, 'committed');
      const rows = recorded ? 2 : 1;
      assert.equal(outcome?.kind === 'committed' && outcome.usage.used, rows);
      assert.equal((await store.activity(id, 0)).keys, rows);
      assert.deepEqual(await areRecorded(store, [next.keyId]), [true]);
      await store.close();
    });
  }
});

describe('SQLite store over months and releases', () => {
  const DAY_MS = 86_400_000;

  it('prunes old rows and minute sums in pieces; keeps newer rows and hour sums', async () => {
    const [store, other] = [open('pruned.db'), open('pruned.db')];
    const id = await addEnterprise(store);
    const beforeMs = NOW - 30 * DAY_MS;
    const rowAt = (atMs: number) => makeRow({ keyId: makeKeyId(atMs), createdMs: atMs });
    const tested = Array.from({ length: 600 }, (_, i) => evidenceAt(id, beforeMs - 1 - i, i));
    await store.commit([...tested, evidenceAt(id, beforeMs, 7)], []);
    const old = Array.from({ length: 1_200 }, (_, i) => rowAt(beforeMs - 1 - i));
    const kept = [rowAt(beforeMs), rowAt(NOW)];
    await store.commit(
      [...old, ...kept].map((row) => keyRequest(id, row)),
      [],
    );
    await store.commit([keyRequest(id, rowAt(NOW), NOW - 400 * DAY_MS)], []);
    const order = { keepMs: NOW - beforeMs, clock: { nowMs: () => NOW }, dryRun: true };
    const counts = { rows: old.length + 600, minuteSums: 1, partitions: [] };
    const expected = { ...counts, beforeMs, isPartial: false };
    assert.deepEqual(await store.prune(order), expected);
    assert.equal((await store.keyEvidence(id, 1_000)).length, 601);
    // Another writer can write between the pieces.
    const pruned = store.prune({ ...order, dryRun: false });
    const [outcome] = await other.commit([keyRequest(id)], []);
    assert.equal(outcome?.kind, 'committed');
    assert.deepEqual(await pruned, expected);
    assert.ok(
      (
        await areRecorded(
          store,
          old.map(({ keyId }) => keyId),
        )
      ).every((found) => !found),
    );
    assert.deepEqual(
      await areRecorded(
        store,
        kept.map(({ keyId }) => keyId),
      ),
      [true, true],
    );
    const left = await store.keyEvidence(id, 1_000);
    assert.deepEqual(
      left.map(({ pValues }) => pValues[0]),
      [7],
    );
    assert.equal((await store.activity(id, NOW - 500 * DAY_MS)).keys, old.length + 605);
    await Promise.all([store.close(), other.close()]);
  });

  it('stops pruning after the current piece when asked to', async () => {
    const store = open('stopped.db');
    const id = await addEnterprise(store);
    const rows = Array.from({ length: 1_000 }, () => makeRow());
    await store.commit(
      rows.map((row) => keyRequest(id, row)),
      [],
    );
    const stop = new AbortController();
    const order = { keepMs: -1, clock: { nowMs: () => NOW }, dryRun: false, signal: stop.signal };
    const pruned = store.prune(order);
    await new Promise(setImmediate);
    stop.abort();
    const report = await pruned;
    assert.ok(report.rows > 0 && report.rows < rows.length, `${report.rows}`);
    await store.close();
  });

  it('works while the next release extends the schema, and restarts after it', async () => {
    const path = join(directory, 'rolling.db');
    const store = open('rolling.db');
    const id = await addEnterprise(store);
    await store.commit([keyRequest(id)], []);
    const { to: from } = migrateDatabase(path);
    const next = [...readMigrations('sqlite'), { version: 900, sql: COMPATIBLE }];
    assert.deepEqual(migrateDatabase(path, next), { from, to: 900, program: 900 });
    assert.equal((await store.commit([keyRequest(id)], []))[0]?.kind, 'committed');
    await store.close();
    const warnings: string[] = [];
    const again = openSqliteStore({ path, quotas: QUOTAS, warn: (text) => warnings.push(text) });
    assert.equal((await again.commit([keyRequest(id)], []))[0]?.kind, 'committed');
    await again.close();
    assert.deepEqual(warnings, [
      `a newer release has brought the schema to version 900; this program knows ${from} and works with it`,
    ]);
    assert.deepEqual(migrateDatabase(path), { from: 900, to: 900, program: from });
    await openSqliteStore({ path, quotas: QUOTAS, readOnly: true }).close();
    await assert.rejects(
      exportLedger(new MovableSqlite(path), NOW, async () => {}, NEVER),
      {
        name: 'SetupError',
        message: /schema version 900, .*; export with the newer release$/,
      },
    );
    const copy = await copyDatabase(path, join(directory, 'rolled.db'), NEVER);
    assert.deepEqual([copy.schema, copy.rows.ledger], [900, 3]);
  });

  it('allows programs of the baseline until the first key for several recipients, and not again after a later migration', async () => {
    const path = join(directory, 'several.db');
    const store = open('several.db');
    const id = await addEnterprise(store);
    const migrations = readMigrations('sqlite');
    const baseline = migrations.slice(0, 1);
    const newest = newestVersion(migrations);
    await store.commit([keyRequest(id, makeRow({ sealed: seal() }))], []);
    assert.deepEqual(migrateDatabase(path, baseline), { from: newest, to: newest, program: 14 });
    await store.commit([keyRequest(id, makeRow({ sealed: seal(2) }))], []);
    const refusal = { name: 'SetupError', message: /needs programs of version 15/ };
    assert.throws(() => migrateDatabase(path, baseline), refusal);
    await store.close();
    migrateDatabase(path, [
      ...migrations,
      { version: 99, sql: '-- oldest-program: 14\nSELECT 1;' },
    ]);
    assert.throws(() => migrateDatabase(path, baseline), refusal);
  });

  it('refuses a schema if any migration needs a newer program, and changes nothing', async () => {
    const path = join(directory, 'incompatible.db');
    const { to } = migrateDatabase(path);
    const next = [
      ...readMigrations('sqlite'),
      { version: 900, sql: '-- oldest-program: 900\nCREATE TABLE tomorrow (id INTEGER)' },
      { version: 901, sql: '-- oldest-program: 6\nCREATE TABLE later (id INTEGER)' },
    ];
    migrateDatabase(path, next);
    const refusal = {
      name: 'SetupError',
      message: new RegExp(
        `version 901, newer than this program's ${to}, and needs programs of version 900;`,
      ),
    };
    assert.throws(() => open('incompatible.db'), refusal);
    assert.throws(() => migrateDatabase(path), refusal);
    assert.throws(() => openSqliteStore({ path, quotas: QUOTAS, readOnly: true }), refusal);
    await assert.rejects(copyDatabase(path, join(directory, 'refused.db'), NEVER), refusal);
    assert.deepEqual(migrateDatabase(path, next), { from: 901, to: 901, program: 901 });
  });

  it('removes expired idempotency records behind those of a clock that was ahead', async () => {
    const store = open('ahead.db');
    const id = await addEnterprise(store);
    const keyed = (key: string, atMs: number) => batchOf(id, 1, { atMs, idempotency: record(key) });
    const ahead = Array.from({ length: 250 }, (_, i) => keyed(`ahead${i}`, NOW + 300 * DAY_MS));
    const expired = Array.from({ length: 250 }, (_, i) => keyed(`old${i}`, NOW));
    const young = keyed('young', NOW + DAY_MS);
    for (const requests of [ahead, expired, [young]]) await store.commit(requests, []);
    const clock = { nowMs: () => NOW + DAY_MS };
    await store.acceptClock(clock);
    await store.maintain(clock);
    const count = () => {
      const database = new DatabaseSync(join(directory, 'ahead.db'));
      const row = database.prepare('SELECT count(*) AS n FROM idempotency').get();
      database.close();
      return row?.n;
    };
    assert.equal(count(), 251);
    await store.maintain({ nowMs: () => NOW + 900 * DAY_MS });
    assert.equal(count(), 251, 'nothing is removed while the clock is in doubt');
    await store.close();
  });

  it('removes large records a few at a time, and lets others write in between', async () => {
    const path = join(directory, 'large.db');
    const store = open('large.db');
    const id = await addEnterprise(store);
    const body = 'b'.repeat(4 * 1024 * 1024);
    const keyed = (key: string) => batchOf(id, 1, { idempotency: record(key, body) });
    await store.commit([keyed('1'), keyed('2'), keyed('3'), keyed('4'), keyed('5')], []);
    const clock = { nowMs: () => NOW + DAY_MS };
    await store.acceptClock(clock);
    const database = new DatabaseSync(path, { readOnly: true });
    const left = database.prepare('SELECT count(*) AS n FROM idempotency');
    const seen: unknown[] = [];
    const original = DatabaseSync.prototype.exec;
    mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, sql: string) {
      original.call(this, sql);
      if (sql.startsWith('COMMIT')) seen.push(left.get()?.n);
    });
    await store.maintain(clock).finally(() => mock.restoreAll());
    database.close();
    assert.deepEqual([...new Set(seen)], [3, 1, 0]);
    await store.close();
  });

  it('refuses earlier programs, which lack the index by fingerprint', () => {
    const earlier = oldMigrations('sqlite', 10);
    const path = join(directory, 'earlier.db');
    migrateDatabase(path, readMigrations('sqlite').slice(0, 1));
    const refusal = { name: 'SetupError', message: /needs programs of version 11/ };
    assert.throws(() => migrateDatabase(path, earlier), refusal);
  });

  it('opens a database that began without latencies and p-values', async () => {
    const path = join(directory, 'before.db');
    makeOldSqlite(path, 2);
    const before = new DatabaseSync(path);
    before.exec(`INSERT INTO accounts VALUES ('acct_e', 'e', 'enterprise', 0, 1);
      INSERT INTO ledger VALUES (randomblob(16), 1, randomblob(32), 1, 'acct_e', 'key', 256, 'phase', 'os',
        1, 1, 255, NULL, 1.0, 15, 15);
      INSERT INTO rollup_minute VALUES ('acct_e', 7, 3, 3000, 1, 1, 3, 0)`);
    before.close();
    makeOldSqlite(path, LAST_OLD, { from: 2 });
    const store = open('before.db');
    const migrated = new DatabaseSync(path);
    assert.equal(findUnindexed(migrated), null);
    migrated.close();
    assert.deepEqual(await store.keyEvidence('acct_e', 10), []);
    await store.commit([evidenceAt('acct_e', 8 * 60_000, 9)], []);
    const query = { accountId: 'acct_e', startMs: 7 * 60_000, stepMinutes: 1, steps: 2 };
    const [old, current] = await store.series(query);
    assert.deepEqual([old?.keys, old?.latencyUs, old?.latencies], [3, 3_000, null]);
    assert.equal(current?.latencies?.at(-1), 1);
    assert.equal((await store.keyEvidence('acct_e', 10)).length, 1);
    await store.close();
  });

  it('reads an account’s last keys with evidence through the primary key, without sorting', () => {
    const database = new DatabaseSync(join(directory, 'restart.db'));
    const plan = database
      .prepare(
        `EXPLAIN QUERY PLAN SELECT p_values FROM validated_keys
         WHERE account_id = 'a' ORDER BY key_id DESC LIMIT 10`,
      )
      .all()
      .map(({ detail }) => detail);
    assert.deepEqual(plan, ['SEARCH validated_keys USING PRIMARY KEY (account_id=?)']);
    database.close();
  });

  it('reads the sums of a year through the primary keys', () => {
    const database = new DatabaseSync(join(directory, 'restart.db'));
    for (const table of ['rollup_hour', 'rollup_minute']) {
      const plan = database
        .prepare(
          `EXPLAIN QUERY PLAN SELECT sum(keys) FROM ${table} WHERE account_id = 'a' AND period >= 1`,
        )
        .all();
      assert.match(
        JSON.stringify(plan),
        /SEARCH \w+ USING PRIMARY KEY \(account_id=\? AND period>\?\)/,
      );
    }
    database.close();
  });
});

describe('the upkeep of a ledger', () => {
  const store = { kind: 'sqlite', path: join(directory, 'upkeep.db') } as const;

  it('prunes in a thread that ends and reports what it removed', async () => {
    const ledger = open('upkeep.db');
    const id = await addEnterprise(ledger);
    const times = [1, Date.now()];
    const rows = times.map((atMs) => keyRequest(id, makeRow({ keyId: makeKeyId(atMs) }), NOW));
    await ledger.commit(rows, []);
    await ledger.close();
    let maintenance: Maintenance | undefined;
    const report = await new Promise<PruneReport>((onPruned, fail) => {
      const onFailure = (message: string) => fail(new Error(message));
      maintenance = new Maintenance({ store, retentionDays: 1, onPruned, onFailure, firstMs: 0 });
    });
    assert.deepEqual([report.rows, report.isPartial], [1, false]);
    await maintenance?.stop();
  });

  it('refuses to run code that is not the server’s, which could migrate the ledger', async (t) => {
    const path = join(directory, 'of-other-code.db');
    const message = await new Promise<string>((onFailure) => {
      const maintenance = new Maintenance({
        store: { kind: 'sqlite', path },
        retentionDays: 1,
        onPruned: () => onFailure('it ran'),
        onFailure,
        firstMs: 0,
        software: 'phm-key-service/0.0.0+other',
      });
      t.after(() => maintenance.stop());
    });
    assert.match(message, /files have changed since the server started: restart the server$/);
    assert.ok(!existsSync(path));
  });

  it('reports why it failed and keeps the process running', async () => {
    let maintenance: Maintenance | undefined;
    const message = await new Promise<string>((onFailure) => {
      maintenance = new Maintenance({
        store: { kind: 'sqlite', path: join(directory, 'text.db') },
        retentionDays: 1,
        onPruned: () => {},
        onFailure,
        firstMs: 0,
      });
    });
    assert.match(message, /cannot open the database .*text\.db/);
    await maintenance?.stop();
  });
});
