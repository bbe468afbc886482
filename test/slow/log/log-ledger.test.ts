/** The transparency log on its way from one store to the other, damaged, and in a PostgreSQL that was restored or promoted. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import {
  copyDatabase,
  exportLedger,
  importLedger,
  openMovableStore,
  verifyLedger,
} from '../../../src/ledger/admin.ts';
import {
  type LedgerStore,
  openSqliteStore,
  type StoreLocation,
} from '../../../src/ledger/index.ts';
import { openPostgresStore } from '../../../src/ledger/postgres/store.ts';
import { TABLE_NAMES } from '../../../src/ledger/tables.ts';
import { keyRequest, makeKeyId, NOW, QUOTAS } from '../../ledger/contract.ts';
import {
  ACCOUNT,
  assertSound,
  auditRecord,
  comparable,
  loggedRow,
  logStart,
  storedRoot,
  takeAll,
  turnOf,
} from '../../ledger/log-contract.ts';
import { noPostgres, Postgres } from '../../support/ledgers/postgres.ts';

const NEVER = new AbortController().signal;

const directory = mkdtempSync(join(tmpdir(), 'phm-log-'));
const when = { skip: noPostgres };
let postgres: Postgres;

before(async () => {
  if (noPostgres) return;
  // A server of its own: a test restarts it.
  postgres = await Postgres.start();
  postgres.waitsForLocks = true;
  for (const database of ['late', 'moved', 'many']) await postgres.createLedger(database);
});
after(async () => {
  await postgres?.remove();
  rmSync(directory, { recursive: true, force: true });
});

const pathOf = (name: string) => join(directory, name);
const openSqlite = async (name: string) => openSqliteStore({ path: pathOf(name), quotas: QUOTAS });
const openPostgres = (name: string) =>
  openPostgresStore({ url: postgres.url(name), quotas: QUOTAS });

const ACCOUNT_RECORD = { accountId: ACCOUNT, name: 'l', plan: 'enterprise', demo: false };

/** Fills a store with two logs, of which the open one has entries of all kinds and states. */
async function fillLog(store: LedgerStore): Promise<number> {
  await store.addAccount({ ...ACCOUNT_RECORD, createdMs: NOW });
  await store.registerSecret(1, randomBytes(32), NOW);
  const key = { apiKeyId: `key_${ACCOUNT}`, accountId: ACCOUNT, hint: 'h', createdMs: NOW };
  await store.addApiKey({ ...key, revokedMs: null }, randomBytes(32));
  const software = await store.registerSoftware('phm-key-service/1.2.3+0123456789abcdef');
  const commit = (logId: number, count: number) =>
    store.commit(
      Array.from({ length: count }, () => keyRequest(ACCOUNT, loggedRow(logId, software))),
      [],
    );
  const first = await store.startLog(logStart('first.example'));
  await commit(first.logId, 3);
  await takeAll(store, first.logId);
  await commit(first.logId, 1);
  const { logId } = await store.startLog(logStart('second.example', randomBytes(32)));
  await commit(logId, 600);
  await store.addAudit(auditRecord(logId));
  await takeAll(store, logId);
  await commit(logId, 1);
  await store.takeTurn(turnOf(logId, { judge: () => false }));
  await commit(logId, 2);
  await store.commit([keyRequest(ACCOUNT)], []);
  const note = `second.example\n602\n${'A'.repeat(43)}=\n\n— second.example ${'B'.repeat(4_000)}\n`;
  await store.saveCheckpoint(logId, 602, note, 'checkpoint');
  await store.saveCheckpoint(logId, 600, note, 'witnessed');
  return logId;
}

/** Returns everything that a store knows of its logs. */
async function readLogs(store: LedgerStore): Promise<unknown> {
  const logs = await store.logs();
  const everything = {
    logs,
    records: await store.pageRecords(null, 10_000),
    entries: await Promise.all(logs.map(({ logId }) => store.pageEntries(logId, 0, 10_000))),
    roots: await Promise.all(logs.map(({ logId, size }) => storedRoot(store, logId, size))),
    stranded: await store.strandedEntries(0, 100),
    counts: await Promise.all(logs.map(({ logId }) => store.logCounts(logId))),
    audits: await store.audits(null, 100),
  };
  return comparable(everything);
}

async function move(from: StoreLocation, to: StoreLocation): Promise<string> {
  const chunks: Uint8Array[] = [];
  const put = async (bytes: Uint8Array) => {
    chunks.push(bytes);
  };
  await exportLedger(await openMovableStore(from), NOW, put, NEVER);
  async function* source() {
    yield* chunks;
  }
  await importLedger(await openMovableStore(to), source(), Object.keys(QUOTAS), NEVER);
  return Buffer.concat(chunks).toString();
}

/** Returns what a verification finds. */
async function problemsIn(location: StoreLocation): Promise<string[]> {
  const options = { nowMs: NOW, signal: NEVER, onProgress: () => {} };
  return (await verifyLedger(location, options)).findings.map(({ problem }) => problem);
}

describe('the counts of a log that stands still', () => {
  /** Adds more waiting and refused entries to log 1 than are counted, by SQL that both stores know. */
  const fill = (series: string, id: string, entry: string) => `
    INSERT INTO log_pending (entry_id, log_id, kind, entry, mac, secret_version)
      SELECT ${id}, 1, 'key', ${entry}, ${entry}, 1 FROM ${series};
    INSERT INTO log_set_aside (entry_id, log_id, kind, entry, mac, secret_version, noted_ms)
      SELECT ${id}, 1, 'key', ${entry}, ${entry}, 1, 0 FROM ${series};`;

  async function assertBounded(store: LedgerStore): Promise<void> {
    const { pending, setAside } = await store.logCounts(1);
    assert.deepEqual([pending, setAside], [100_000, 100_000]);
    await store.close();
  }

  it('end at 100,000 in SQLite', async () => {
    const store = await openSqlite('many.db');
    await store.startLog(logStart('many.example'));
    const database = new DatabaseSync(pathOf('many.db'));
    const series = `(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100001) SELECT i FROM n)`;
    database.exec(fill(series, 'randomblob(16)', 'zeroblob(32)'));
    database.close();
    await assertBounded(store);
  });

  it('end at 100,000 in PostgreSQL', when, async () => {
    const store = await openPostgres('many');
    await store.startLog(logStart('many.example'));
    const zeros = "decode(repeat('00', 32), 'hex')";
    const series = 'generate_series(1, 100001)';
    await postgres.query('many', fill(series, 'uuid_send(gen_random_uuid())', zeros));
    await assertBounded(store);
  });
});

describe('a log that moves', when, () => {
  const sqlite = (name: string): StoreLocation => ({ kind: 'sqlite', path: pathOf(name) });

  it('is the same tree on the other store, and back, and continues there', async () => {
    const store = await openSqlite('source.db');
    const logId = await fillLog(store);
    const target = await openPostgres('moved');
    const location: StoreLocation = { kind: 'postgres', url: postgres.url('moved') };
    const text = await move(sqlite('source.db'), location);
    assert.deepEqual(await readLogs(target), await readLogs(store));
    for (const table of TABLE_NAMES.filter((name) => /^log|^audit$|^software$/.test(name))) {
      assert.match(text, new RegExp(`\n\\{"table":"${table}",.*\n\\["?[0-9a-f]+`));
    }
    assert.deepEqual(await problemsIn(location), []);
    await postgres.query('moved', 'UPDATE log_checkpoints SET size = size + 9');
    assert.match((await problemsIn(location)).join(), /checkpoint covers more entries/);
    await postgres.query('moved', 'UPDATE log_checkpoints SET size = size - 9');
    const back = await openSqlite('back.db');
    const again = await move(location, sqlite('back.db'));
    assert.equal(again, text);
    assert.deepEqual(await readLogs(back), await readLogs(store));
    for (const one of [target, back]) {
      assert.equal((await takeAll(one, logId)).size, 604);
      await assertSound(one, logId);
      assert.equal((await one.startLog(logStart('third.example'))).logId, logId + 1);
      assert.equal(await one.registerSoftware('another'), 2);
      await one.close();
    }
    await store.close();
  });

  it('is in a backup', async () => {
    const store = await openSqlite('backed-up.db');
    await fillLog(store);
    const { rows } = await copyDatabase(pathOf('backed-up.db'), pathOf('copy.db'), NEVER);
    assert.equal(rows.log_entries, 605);
    const copy = await openSqlite('copy.db');
    assert.deepEqual(await readLogs(copy), await readLogs(store));
    await copy.close();
    await store.close();
  });
});

describe('verification of a log', () => {
  const name = 'verified.db';
  const verify = () => problemsIn({ kind: 'sqlite', path: pathOf(name) });

  it('finds nothing in a sound log, and gaps, tiles and checkpoints that do not fit', async () => {
    const store = await openSqlite(name);
    const logId = await fillLog(store);
    await store.close();
    assert.deepEqual(await verify(), []);
    const tampering: [string, RegExp][] = [
      [
        `DELETE FROM log_entries WHERE log_id = ${logId} AND entry_index = 9`,
        /not numbered from 0/,
      ],
      [`DELETE FROM log_tiles WHERE level = 0 AND tile_index = 1`, /more or fewer full tiles/],
      [`UPDATE log_tiles SET hashes = zeroblob(32) WHERE level = 0`, /more or fewer full tiles/],
      [`UPDATE log_checkpoints SET size = size + 9`, /checkpoint covers more entries/],
      [`UPDATE log_pending SET log_id = 77`, /log_id names no log/],
      [
        `UPDATE ledger SET software_id = 77 WHERE salt IS NOT NULL`,
        /software_id names no software/,
      ],
      [`UPDATE ledger SET salt = NULL`, /only some of key_commitment, salt/],
    ];
    const database = new DatabaseSync(pathOf(name));
    for (const [sql, expected] of tampering) {
      database.exec(`BEGIN; ${sql}; COMMIT`);
      assert.match((await verify()).join('\n'), expected);
    }
    database.close();
  });
});

describe('a turn on PostgreSQL', when, () => {
  let store: LedgerStore;
  let logId: number;

  before(async () => {
    store = await openPostgres('late');
    ({ logId } = await store.startLog(logStart('late.example')));
  });
  after(() => store.close());

  const addEntry = async (auditId = makeKeyId()) => {
    await store.addAudit(auditRecord(logId, { auditId }));
    return auditId;
  };

  it('takes an entry that another transaction held back while younger ones were logged', async () => {
    const session = await postgres.connect('late');
    const late = makeKeyId(NOW - 60_000);
    await session.query('BEGIN');
    await session.query(
      `INSERT INTO log_pending (entry_id, log_id, kind, entry, mac, secret_version)
       VALUES ($1, $2, 'key', $1::bytea || $1::bytea, $1::bytea || $1::bytea, 1)`,
      [late, logId],
    );
    const early = await addEntry();
    assert.equal((await store.takeTurn(turnOf(logId))).appended, 1);
    await session.query('COMMIT');
    await session.end();
    assert.equal((await store.takeTurn(turnOf(logId))).appended, 1);
    const places = await Promise.all([early, late].map((id) => store.findLogged(id)));
    assert.deepEqual(places, [
      { logId, index: 0 },
      { logId, index: 1 },
    ]);
    await assertSound(store, logId);
  });

  it('waits for another server’s turn and then sees the head that it left', async () => {
    const session = await postgres.connect('late');
    await addEntry();
    await session.query('BEGIN; SELECT FROM logs FOR UPDATE');
    const turn = store.takeTurn(turnOf(logId));
    await session.query('UPDATE logs SET closed_ms = 1');
    await session.query('COMMIT');
    assert.deepEqual([(await turn).appended, (await turn).size], [0, 2]);
    await session.query('UPDATE logs SET closed_ms = NULL');
    await session.end();
    assert.equal((await takeAll(store, logId)).size, 3);
  });
});

describe('a PostgreSQL that was restored or promoted', when, () => {
  /** Opens a ledger whose log has one waiting entry; no turn may take it until the place is accepted. */
  async function assertMoved(database: string): Promise<void> {
    const store = await openPostgres(database);
    const [log] = await store.logs();
    assert.ok(log);
    assert.equal(log.isMoved, true);
    const { appended, size } = await store.takeTurn(turnOf(log.logId));
    assert.deepEqual([appended, size], [0, log.size]);
    await store.recordHome(log.logId);
    assert.equal((await store.logs())[0]?.isMoved, false);
    assert.equal((await store.takeTurn(turnOf(log.logId))).appended, 1);
    await store.addAudit(auditRecord(log.logId));
    await store.close();
  }

  async function homeOf(database: string): Promise<string> {
    const [row] = await postgres.query(database, 'SELECT ledger_home() AS home');
    return String(row?.home);
  }

  it('takes no turn before its place is accepted', async () => {
    await postgres.createLedger('home');
    const store = await openPostgres('home');
    const { logId, isMoved } = await store.startLog(logStart('home.example'));
    assert.equal(isMoved, false);
    await store.addAudit(auditRecord(logId));
    await store.close();
    await postgres.query('postgres', 'CREATE DATABASE restored TEMPLATE home');
    await assertMoved('restored');
  });

  it('takes no turn on a new timeline, which the control file does not have yet', async () => {
    // The server becomes a standby of its own, and is promoted. The program reads to the end: otherwise the pipe can break.
    await postgres.query('postgres', "COPY (SELECT) TO PROGRAM 'cat >standby.signal'");
    await postgres.stop('INT');
    await postgres.restart();
    // Commands that only read also work on a standby.
    assert.match(await homeOf('restored'), /\/-$/);
    await postgres.query('postgres', 'SELECT pg_promote()');
    assert.match(await homeOf('restored'), /\/00000002$/);
    await assertMoved('restored');
  });

  it('is recognised without privileges, and partly without the control file', async () => {
    const session = await postgres.connect('restored');
    const home = async () => (await session.query('SELECT ledger_home() AS home')).rows[0]?.home;
    const whole = await home();
    assert.match(whole, /^\d+\/\d+\/\d+\/00000002$/);
    await session.query('CREATE ROLE plain; SET ROLE plain');
    assert.equal(await home(), whole);
    await session.query('RESET ROLE; REVOKE EXECUTE ON FUNCTION pg_control_system FROM PUBLIC');
    await session.query('SET ROLE plain');
    assert.equal(await home(), whole.replace(/^\d+/, '-'));
    await session.end();
  });
});
