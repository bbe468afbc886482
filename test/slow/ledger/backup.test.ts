import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { copyDatabase } from '../../../src/ledger/admin.ts';
import { type LedgerStore, openSqliteStore } from '../../../src/ledger/index.ts';
import { keyRequest, QUOTAS } from '../../ledger/contract.ts';
import { assertSameStore, fillStore } from '../../ledger/filled-store.ts';
import { MAIN, runPhm } from '../../support/servers/server.ts';

const NEVER = new AbortController().signal;

const directory = mkdtempSync(join(tmpdir(), 'phm-backup-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const newFolder = () => mkdtempSync(join(directory, 'case-'));
const open = (path: string): LedgerStore => openSqliteStore({ path, quotas: QUOTAS });

/** Fills enough pages for several steps of a copy. */
function fillPages(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    INSERT INTO ledger (key_id, fingerprint, commitment, secret_version, account_id, api_key_id, security_level,
      modulation, source, created_ms, latency_us, entropy_bits)
    SELECT unhex(printf('01900000%04x7%03x8%03x%012x', i, i % 4096, i % 4096, i)), random(), randomblob(32), 1,
      'acct_a', 'key_acct_a', 256, 'phase', 'os', 1, 1, 1 FROM n;
    UPDATE usage SET used = used + 60000
    WHERE account_id = 'acct_a' AND month = (SELECT max(month) FROM usage)`);
  database.close();
}

/** Reads the rows and the counter of an account that only generated keys and made one validation. */
function readBooks(path: string): { rows: number; used: number } {
  const database = new DatabaseSync(path, { readOnly: true });
  const books = database
    .prepare(
      `SELECT (SELECT count(*) FROM ledger WHERE account_id = 'acct_a') AS rows,
         (SELECT sum(used) FROM usage WHERE account_id = 'acct_a') AS used`,
    )
    .get();
  database.close();
  return books as { rows: number; used: number };
}

describe('a database backup', () => {
  it('holds one state of a busy database in a single private file without a log', async () => {
    const folder = newFolder();
    const [path, copy] = [join(folder, 'phm.db'), join(folder, 'copy.db')];
    const store = open(path);
    await fillStore(store);
    fillPages(path);
    let commits = 0;
    let done = false;
    const copied = copyDatabase(path, copy, NEVER).finally(() => {
      done = true;
    });
    while (!done) {
      await store.commit([keyRequest('acct_a'), keyRequest('acct_a')], []);
      if (!done) commits += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    const report = await copied;
    // The number depends on how busy the machine is. A commit that had to wait for the copy would have
    // failed.
    assert.ok(commits >= 1, 'writers go on');
    const { rows, used } = readBooks(copy);
    assert.equal(used, rows + 1, 'whole batches only');
    assert.equal(report.rows.ledger, rows + 100);
    assert.equal(report.bytes, statSync(copy).size);
    assert.equal(statSync(copy).mode & 0o777, 0o600);
    // Bytes 18 and 19 of the header: 1 without a write-ahead log, 2 with one.
    assert.deepEqual([...readFileSync(copy).subarray(18, 20)], [1, 1]);
    await store.close();
    assert.deepEqual(readdirSync(folder).sort(), ['copy.db', 'phm.db']);
  });

  it('restores the ledger exactly', async () => {
    const folder = newFolder();
    const [path, copy] = [join(folder, 'phm.db'), join(folder, 'copy.db')];
    const store = open(path);
    const filled = await fillStore(store);
    await copyDatabase(path, copy, NEVER);
    const restored = join(folder, 'restored.db');
    await copyDatabase(copy, restored, NEVER);
    const again = open(restored);
    await assertSameStore(store, again, filled);
    await again.close();
    await store.close();
  });

  it('restores on a machine that has no data directory yet', async () => {
    const folder = newFolder();
    const copy = join(folder, 'copy.db');
    const secret = { PHM_MASTER_KEY: '5a'.repeat(32) };
    const create = ['account', 'create', '--init', '--name', 'A', '--plan', 'research'];
    const created = await runPhm(create, folder, secret);
    assert.equal(created.code, 0, created.stderr);
    await copyDatabase(join(folder, 'phm.db'), copy, NEVER);
    const dataDir = join(folder, 'new', 'data');
    const restored = await runPhm(['ledger', 'restore', copy], dataDir, secret);
    assert.equal(restored.code, 0, restored.stderr);
    assert.equal(statSync(dataDir).mode & 0o777, process.platform === 'win32' ? 0o666 : 0o700);
    const verified = await runPhm(['ledger', 'verify'], dataDir);
    assert.equal(verified.code, 0, verified.stderr);
    // The command reports another ledger's secret, and the restored file stays.
    const foreign = { PHM_MASTER_KEY: 'a5'.repeat(32) };
    const other = await runPhm(['ledger', 'restore', copy], join(folder, 'other'), foreign);
    assert.equal(other.code, 1);
    assert.match(other.stderr, /copy was checked\.\nphm: the database was restored, but no server/);
    assert.match(other.stderr, /version 1 of the master secret is not the one/);
    assert.ok(statSync(join(folder, 'other', 'phm.db')).size > 0);
  });

  it('replaces no file and refuses a path with a log of another database', async () => {
    const folder = newFolder();
    const path = join(folder, 'phm.db');
    const store = open(path);
    await fillStore(store);
    const taken = join(folder, 'taken.db');
    writeFileSync(taken, 'mine');
    await assert.rejects(copyDatabase(path, taken, NEVER), {
      name: 'SetupError',
      message: /taken\.db exists and is never replaced/,
    });
    assert.equal(readFileSync(taken, 'utf8'), 'mine');
    for (const side of ['-wal', '-shm', '-journal']) {
      const copy = join(folder, `beside${side}.db`);
      writeFileSync(copy + side, '');
      await assert.rejects(
        copyDatabase(path, copy, NEVER),
        /exists: stop the server, if one runs on it/,
      );
    }
    await store.close();
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.new')),
      [],
    );
  });

  it('must not meet the log of another database, because SQLite would apply it', async () => {
    const folder = newFolder();
    const [path, copy] = [join(folder, 'phm.db'), join(folder, 'copy.db')];
    const store = open(path);
    await fillStore(store);
    await copyDatabase(path, copy, NEVER);
    for (let i = 0; i < 50; i++) await store.commit([keyRequest('acct_a')], []);
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    const opened = new DatabaseSync(copy);
    const { n } = opened.prepare('SELECT count(*) AS n FROM ledger').get() as { n: number };
    opened.close();
    assert.notEqual(n, 300, 'SQLite applies a log that it finds');
    await store.close();
  });

  it('refuses a file that is not a ledger and a damaged ledger', async () => {
    const folder = newFolder();
    const copy = join(folder, 'copy.db');
    const cases: [string, (path: string) => void | Promise<void>, RegExp][] = [
      ['absent', () => {}, /there is no database/],
      ['folder', (path) => void mkdirSync(path), /there is no database/],
      ['empty', (path) => writeFileSync(path, ''), /holds no ledger/],
      ['text', (path) => writeFileSync(path, 'text '.repeat(1_000)), /not a database/],
      [
        'other',
        (path) => run(path, 'CREATE TABLE x (y); PRAGMA user_version = 1'),
        /not a database of this service/,
      ],
      [
        'newer',
        async (path) => {
          await open(path).close();
          run(path, 'PRAGMA user_version = 99');
        },
        /schema version 99, newer/,
      ],
      ['damaged', damage, /damaged|malformed/],
    ];
    for (const [name, make, words] of cases) {
      const path = join(folder, name);
      await make(path);
      await assert.rejects(copyDatabase(path, copy, NEVER), (error: Error) => {
        assert.equal(error.name, 'SetupError', `${name}: ${error.stack}`);
        assert.match(error.message, words);
        assert.doesNotMatch(error.message, /run this as the user/, 'no remedy that does not fit');
        return true;
      });
    }
    for (const name of ['empty', 'text', 'other', 'damaged']) {
      await assert.rejects(copyDatabase(join(folder, name), copy, NEVER, 'backup'), {
        name: 'SetupError',
        message: new RegExp(`^the backup .*/${name} cannot be used: .* Take another backup`),
      });
    }
    await assert.rejects(copyDatabase(join(folder, 'damaged'), copy, NEVER), {
      message: /damaged is damaged: .*phm ledger restore FILE$/,
    });
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('copy')),
      [],
    );
  });

  it('leaves no file when it is interrupted', async () => {
    const folder = newFolder();
    const path = join(folder, 'phm.db');
    const store = open(path);
    await fillStore(store);
    fillPages(path);
    const controller = new AbortController();
    const copied = copyDatabase(path, join(folder, 'copy.db'), controller.signal);
    controller.abort('interrupted');
    await assert.rejects(copied, (reason) => reason === 'interrupted');
    await store.close();
    assert.deepEqual(readdirSync(folder), ['phm.db']);
  });

  it('leaves no file when the disk is full', {
    skip: process.platform === 'win32' && 'no ulimit',
  }, async () => {
    const folder = newFolder();
    const store = open(join(folder, 'phm.db'));
    await fillStore(store);
    fillPages(join(folder, 'phm.db'));
    await store.close();
    // A limit on the size of files stands in for a full disk. Without the handler, the limit would raise a
    // signal.
    const ignore = '--import=data:text/javascript,process.on(`SIGXFSZ`,()=>{})';
    const env = { PATH: process.env.PATH, PHM_DATA_DIR: folder, NODE_OPTIONS: ignore };
    for (const command of [['ledger', 'backup'], ['export']]) {
      const args = [process.execPath, MAIN, ...command, join(folder, 'copy')];
      const [code, stderr] = await new Promise<[unknown, string]>((resolve) => {
        execFile(
          'sh',
          ['-c', 'ulimit -f 4096; exec "$@"', 'sh', ...args],
          { env },
          (error, _, words) => resolve([error?.code, words]),
        );
      });
      assert.equal(code, 1, stderr);
      assert.match(stderr, /^phm: cannot (copy|write) /m);
      assert.doesNotMatch(stderr, /run this as the user/);
      assert.deepEqual(readdirSync(folder), ['phm.db']);
    }
  });
});

function run(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

/** Overwrites pages in the middle of the file. */
async function damage(path: string): Promise<void> {
  const store = open(path);
  await fillStore(store);
  await store.close();
  const file = openSync(path, 'r+');
  const pages = Buffer.alloc(3 * 4096, 0x5a);
  writeSync(file, pages, 0, pages.length, 4096 * Math.floor(statSync(path).size / 8192));
}
