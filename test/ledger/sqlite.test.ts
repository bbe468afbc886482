import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { type LedgerStore, openSqliteStore } from '../../src/ledger/index.ts';
import { SqliteStore } from '../../src/ledger/sqlite.ts';
import { SqliteConnection } from '../../src/ledger/sqlite-connection.ts';
import { keyRequest, ledgerContract, makeRow, NOW, QUOTAS } from './contract.ts';

const directory = mkdtempSync(join(tmpdir(), 'phm-ledger-'));
const removeDirectory = async () => rmSync(directory, { recursive: true, force: true });
const open = (file: string): LedgerStore =>
  openSqliteStore({ path: join(directory, file), quotas: QUOTAS });

ledgerContract(
  'SQLite',
  async () => open('contract.db'),
  async () => {},
);

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

describe('SQLite store', () => {
  it('answers ledger_unavailable while the database cannot be written, keeps nothing, and recovers', async () => {
    const path = join(directory, 'blocked.db');
    const store = open('blocked.db');
    const id = await addEnterprise(store);
    const blocker = new DatabaseSync(path);
    // Another writer that holds the lock beyond the time-out stands for any database that cannot write.
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
    assert.deepEqual(await store.lookup([row.keyId]), [false]);
    assert.equal((await store.commit([keyRequest(id, row)], []))[0]?.kind, 'committed');
    await store.close();
  });

  it('keeps quota exact when two processes share the file', async () => {
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

  it('keeps rows across a restart', async () => {
    const first = open('restart.db');
    const id = await addEnterprise(first);
    const row = makeRow();
    await first.commit([keyRequest(id, row)], []);
    await first.close();
    const second = open('restart.db');
    assert.deepEqual(await second.lookup([row.keyId]), [true]);
    await second.close();
  });

  it('refuses a database of a newer release and says so', () => {
    const path = join(directory, 'newer.db');
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 999');
    database.close();
    assert.throws(() => open('newer.db'), {
      name: 'SetupError',
      message: /schema version 999, newer/,
    });
  });

  it('refuses a file that is no database, naming it', () => {
    writeFileSync(join(directory, 'text.db'), 'no database at all, only text\n'.repeat(100));
    assert.throws(() => open('text.db'), { name: 'SetupError', message: /text\.db/ });
  });

  it('finds commitments by the fingerprint index', () => {
    const database = new DatabaseSync(join(directory, 'restart.db'));
    const plan = database
      .prepare(
        'EXPLAIN QUERY PLAN SELECT 1 FROM ledger WHERE fingerprint = 1 AND commitment = 1 AND secret_version = 1',
      )
      .all();
    assert.match(JSON.stringify(plan), /USING INDEX ledger_fingerprint/);
    database.close();
  });

  it('syncs the log at every commit and enforces foreign keys, on its own connection', () => {
    const connection = new SqliteConnection(join(directory, 'pragmas.db'));
    const read = (name: string) => Object.values(connection.get(`PRAGMA ${name}`) ?? {})[0];
    assert.equal(read('journal_mode'), 'wal');
    assert.equal(read('synchronous'), 2, 'FULL');
    assert.equal(read('foreign_keys'), 1);
    connection.close();
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

describe('SQLite store with a COMMIT that fails', () => {
  for (const moment of ['before', 'after'] as const) {
    it(`answers ledger_unavailable when it fails ${moment} it took effect, and goes on`, async () => {
      const connection = new FailingConnection(join(directory, `fails-${moment}.db`));
      const store = new SqliteStore(connection, QUOTAS);
      const id = await addEnterprise(store);
      const [lost, next] = [makeRow(), makeRow()];
      connection.failNext = moment;
      await assert.rejects(store.commit([keyRequest(id, lost)], []), {
        code: 'ledger_unavailable',
      });
      // Durable or not, the caller was refused; what the file holds is counted once or not at all.
      const [recorded] = await store.lookup([lost.keyId]);
      assert.equal(recorded, moment === 'after');
      const [outcome] = await store.commit([keyRequest(id, next)], []);
      assert.equal(outcome?.kind, 'committed');
      const rows = recorded ? 2 : 1;
      assert.equal(outcome?.kind === 'committed' && outcome.usage.used, rows);
      assert.equal((await store.metrics(id, 0)).keys, rows);
      assert.deepEqual(await store.lookup([next.keyId]), [true]);
      await store.close();
    });
  }
});
