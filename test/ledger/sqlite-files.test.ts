/** A store of SQLite confirms no commit while one of its files is not in its place. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { type LedgerStore, openSqliteStore, openStore } from '../../src/ledger/index.ts';
import { SqliteConnection } from '../../src/ledger/sqlite/connection.ts';
import { WriteGate } from '../../src/ledger/sqlite/write-gate.ts';
import { keyRequest, makeRow, NOW, QUOTAS } from './contract.ts';

const ACCOUNT = { accountId: 'acc', name: 'x', plan: 'enterprise', demo: false, createdMs: NOW };

/** Two connections of one server: the key worker writes, and another one keeps the log open. */
async function openServer(test: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'phm-files-'));
  const path = join(folder, 'phm.db');
  const gate = WriteGate.allocate();
  const store = openSqliteStore({ path, quotas: QUOTAS, gate });
  const other = openSqliteStore({ path, quotas: QUOTAS, gate });
  await store.addAccount(ACCOUNT);
  await store.registerSecret(1, randomBytes(32), NOW);
  test.after(async () => {
    await store.close();
    await other.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, path, store, other };
}

const commit = async (store: LedgerStore, row = makeRow()) => {
  const [outcome] = await store.commit([keyRequest('acc', row)], []);
  assert.equal(outcome?.kind, 'committed');
  return row;
};

function refused(text: RegExp) {
  return (error: unknown) =>
    error instanceof AppError &&
    error.code === 'ledger_unavailable' &&
    text.test((error.cause as Error).message);
}

/** What happens to one of the files while a server runs. */
const FAULTS: readonly (readonly [string, (file: string) => void])[] = [
  ['removed', (file) => rmSync(file)],
  ['renamed', (file) => renameSync(file, `${file}.old`)],
  [
    'replaced by a copy',
    (file) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
  ],
  [
    'replaced by a hard link to another file',
    (file) => {
      copyFileSync(file, `${file}.copy`);
      rmSync(file);
      linkSync(`${file}.copy`, file);
    },
  ],
];

describe('the files of an open SQLite ledger', () => {
  for (const side of ['-wal', '-shm', '']) {
    for (const [name, fault] of FAULTS) {
      it(`confirm no commit while phm.db${side} is ${name}`, async (test) => {
        const { path, store, other } = await openServer(test);
        await commit(store);
        fault(path + side);
        const text =
          side === ''
            ? /phm\.db (was moved|\. Move)|taken the place/
            : /was moved, removed, replaced/;
        for (const one of [store, other]) {
          await assert.rejects(commit(one), refused(text));
          await assert.rejects(one.probe({ accountIds: [], room: false }), refused(text));
          await assert.rejects(one.revokeApiKey('acc', NOW), AppError);
        }
      });
    }
  }

  it('confirm no commit if the log is removed during its transaction', async (test) => {
    const { path, store } = await openServer(test);
    await commit(store);
    const row = makeRow();
    const request = keyRequest('acc', row);
    const removing = {
      ...request,
      get counts() {
        rmSync(`${path}-wal`, { force: true });
        return request.counts;
      },
    };
    await assert.rejects(store.commit([removing], []), refused(/phm\.db-wal was moved/));
  });

  it('keep what was confirmed: the log that was removed is copied into the database', async (test) => {
    const { folder, path, store } = await openServer(test);
    const rows = [await commit(store), await commit(store)];
    rmSync(`${path}-wal`);
    await assert.rejects(commit(store), AppError);
    // What a crash leaves: the file alone.
    const copy = join(folder, 'copy.db');
    copyFileSync(path, copy);
    const found = openSqliteStore({ path: copy, quotas: QUOTAS });
    const keys = await found.findKeys(rows.map(({ keyId }) => keyId));
    await found.close();
    assert.ok(keys.every((key) => key !== null));
  });

  for (const [name, fault] of [
    ['its index alone was removed', (path: string) => rmSync(`${path}-shm`)],
    [
      'it was removed with its index',
      (path: string) => ['-wal', '-shm'].map((side) => rmSync(path + side)),
    ],
    ['it was cut off', (path: string) => truncateSync(`${path}-wal`, 32 + 24 + 4_096 + 9)],
  ] as const) {
    // Another process may have begun another log, or pages may be incomplete.
    it(`copy nothing of the log into the database after ${name}`, async (test) => {
      const { path, store, other } = await openServer(test);
      await commit(store);
      const before = readFileSync(path);
      fault(path);
      for (const one of [store, other]) await assert.rejects(commit(one), AppError);
      assert.ok(readFileSync(path).equals(before));
    });
  }

  it('confirm no commit after the log was cut off', async (test) => {
    const { path, store } = await openServer(test);
    await commit(store);
    truncateSync(`${path}-wal`, 32);
    await assert.rejects(
      commit(store),
      refused(/phm\.db-wal was moved, removed, replaced or cut off/),
    );
  });

  for (const bytes of [0, 100, 4096 * 5]) {
    it(`confirm no commit after the database was cut off at ${bytes} bytes`, async (test) => {
      const { path, store, other } = await openServer(test);
      await commit(store);
      const sqlite = new DatabaseSync(path);
      sqlite.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      sqlite.close();
      await commit(store);
      truncateSync(path, bytes);
      for (const one of [store, other]) await assert.rejects(commit(one), AppError);
      await assert.rejects(commit(store), refused(/phm\.db was cut off|damaged|malformed/));
    });
  }

  it('answer no read after the database was emptied', async (test) => {
    const { path, store } = await openServer(test);
    const { keyId } = await commit(store);
    truncateSync(path, 0);
    await assert.rejects(store.findKeys([keyId]), refused(/phm\.db was cut off/));
  });

  it('stay those of a connection that was closed, while another keeps them open', async (test) => {
    const { path } = await openServer(test);
    const connection = new SqliteConnection(path);
    test.after(() => connection.close());
    const write = () => connection.transact(() => connection.writeUnchanged());
    write();
    // As after a failed commit.
    connection.close();
    write();
    connection.close();
    renameSync(`${path}-wal`, `${path}.away`);
    copyFileSync(`${path}.away`, `${path}-wal`);
    assert.throws(write, /phm\.db-wal was moved, removed, replaced/);
    renameSync(`${path}.away`, `${path}-wal`);
    write();
  });

  it('may be others after the last connection has closed and removed them', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'phm-files-'));
    test.after(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'phm.db');
    const store = openSqliteStore({ path, quotas: QUOTAS });
    const connection = new SqliteConnection(path);
    const write = () => connection.transact(() => connection.writeUnchanged());
    write();
    await store.close();
    connection.close();
    assert.equal(existsSync(`${path}-wal`), false);
    // Takes the inode of the removed log, so that the new one has another.
    writeFileSync(join(folder, 'other'), '');
    write();
    connection.close();
  });

  it('confirm commits while connections of several processes begin the log anew', async (test) => {
    const { path, store, other } = await openServer(test);
    // Each connection counts its own checkpoints.
    const connections = [1, 2, 3].map(() => new DatabaseSync(path, { timeout: 5_000 }));
    for (let round = 0; round < 12; round++) {
      for (const one of [store, other]) await commit(one);
      const connection = connections[round % connections.length];
      connection?.exec('PRAGMA wal_checkpoint(RESTART)');
      connection?.exec(`UPDATE accounts SET name = 'round ${round}'`);
    }
    for (const connection of connections) connection.close();
    await commit(store);
  });

  it('confirm commits after VACUUM made the database shorter', async (test) => {
    const { path, store } = await openServer(test);
    await commit(store);
    const sqlite = new DatabaseSync(path);
    sqlite.exec(
      `CREATE TABLE large (x); INSERT INTO large VALUES (zeroblob(500000)); PRAGMA wal_checkpoint(TRUNCATE)`,
    );
    await commit(store);
    const { size } = statSync(path);
    sqlite.exec('DROP TABLE large; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
    assert.ok(statSync(path).size < size);
    sqlite.close();
    await commit(store);
    await commit(store);
  });

  it('work again when the same files are back', async (test) => {
    const { path, store } = await openServer(test);
    await commit(store);
    for (const side of ['-wal', '']) {
      renameSync(path + side, `${path}.away`);
      await assert.rejects(commit(store), AppError);
      renameSync(`${path}.away`, path + side);
      await commit(store);
    }
  });

  it('are those of one directory: another in its place is refused', async (test) => {
    const { folder, store } = await openServer(test);
    await commit(store);
    const away = `${folder}-away`;
    test.after(() => rmSync(away, { recursive: true, force: true }));
    renameSync(folder, away);
    await assert.rejects(commit(store), refused(/moved away/));
    await assert.rejects(store.findKeys([randomBytes(16)]), refused(/moved away/));
    renameSync(away, folder);
    await commit(store);
  });

  it('are no others for threads that start later', async (test) => {
    const { path, store, other } = await openServer(test);
    const ledger = await store.identity();
    const same = await openStore({ kind: 'sqlite', path, ledger }, QUOTAS);
    await same.close();
    await store.close();
    await other.close();
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    const late = openStore({ kind: 'sqlite', path, ledger }, QUOTAS);
    await assert.rejects(late, /another ledger than before/);
  });

  it('survive kill -9 with every key that was confirmed before the removal was noticed', async (test) => {
    const { folder, path, store, other } = await openServer(test);
    await store.close();
    await other.close();
    const script = join(import.meta.dirname, '../support/ledgers/commit-until-refused.ts');
    const child = spawn(process.execPath, [script, path, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    for await (const chunk of child.stdout) {
      said += chunk;
      if (said.includes('refused')) break;
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    const ids = readFileSync(join(folder, 'confirmed'), 'utf8').trim().split('\n');
    assert.ok(ids.length >= 20);
    const again = openSqliteStore({ path, quotas: QUOTAS });
    const found = await again.findKeys(ids.map((id) => Buffer.from(id, 'hex')));
    await again.close();
    assert.deepEqual(
      found.filter((key) => key === null),
      [],
    );
  });
});
