import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs, {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { secretExposures } from '../../src/files/secret-exposure.ts';
import { verifyLedger } from '../../src/ledger/admin.ts';
import { checkAtStart, IntegrityWatch } from '../../src/ledger/integrity.ts';
import { type CheckResult, startCheck } from '../../src/ledger/sqlite/check.ts';
import { openSqliteStore } from '../../src/ledger/sqlite/store.ts';
import { findWalDamage } from '../../src/ledger/sqlite/wal.ts';
import { lastReason, runPhm } from '../support/servers/server.ts';
import { areRecorded, keyRequest, NOW, QUOTAS } from './contract.ts';
import { fillStore } from './filled-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'phm-damage-'));
after(() => rmSync(folder, { recursive: true }));

const PAGE = 4096;
let made = 0;

/** Creates a filled database in its own directory. */
async function filled(): Promise<string> {
  const path = join(newDirectory(), 'phm.db');
  const store = openSqliteStore({ path, quotas: QUOTAS });
  await fillStore(store, 600);
  await store.close();
  return path;
}

/** Creates the same database as a killed server leaves it: most of it is in the log. */
async function filledWithLog(): Promise<string> {
  const path = join(newDirectory(), 'live.db');
  const store = openSqliteStore({ path, quotas: QUOTAS });
  await fillStore(store, 600);
  for (let i = 0; i < 20; i++) await store.commit([keyRequest('acct_a')], []);
  const copy = join(newDirectory(), 'phm.db');
  copyFileSync(path, copy);
  copyFileSync(`${path}-wal`, `${copy}-wal`);
  await store.close();
  return copy;
}

function newDirectory(): string {
  const directory = join(folder, String(made++));
  mkdirSync(directory);
  return directory;
}

function overwrite(path: string, at: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

/** Returns true for root, unless it lacks that capability. */
function writesAnyFile(): boolean {
  const file = join(newDirectory(), 'file');
  writeFileSync(file, '', { mode: 0o400 });
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const WAY_BACK = /phm ledger restore FILE$/;

async function refusal(path: string): Promise<string> {
  try {
    await checkAtStart(path);
  } catch (error) {
    assert.equal((error as Error).name, 'SetupError', String((error as Error).stack));
    return (error as Error).message;
  }
  assert.fail('the database was taken');
}

describe('a database at startup', () => {
  it('is accepted if it is sound, with or without the log of a killed server', async () => {
    const { report, pending } = await checkAtStart(await filled());
    assert.deepEqual([report?.result, pending], [{ kind: 'sound' }, null]);
    assert.equal(report?.check, 'quick_check');
    const killed = await filledWithLog();
    assert.equal((await checkAtStart(killed)).report?.result.kind, 'sound');
  });

  it('is refused if pages are damaged, with the finding and the recovery steps', async () => {
    const path = await filled();
    overwrite(path, 4 * PAGE, Buffer.alloc(3 * PAGE, 0x5a));
    const message = await refusal(path);
    assert.match(message, /phm\.db is damaged: [^\n]+/);
    assert.match(message, WAY_BACK);
  });

  it('is refused if it is truncated', async () => {
    const path = await filled();
    truncateSync(path, 5 * PAGE);
    assert.match(await refusal(path), /is damaged: /);
  });

  it('is refused if it is not a database, without advice about permissions', async () => {
    const path = join(newDirectory(), 'phm.db');
    writeFileSync(path, 'text '.repeat(1_000));
    const message = await refusal(path);
    assert.match(message, /is damaged: file is not a database/);
    assert.match(message, WAY_BACK);
    assert.throws(
      () => openSqliteStore({ path, quotas: QUOTAS }),
      (error: Error) => {
        assert.match(error.message, /file is not a database/);
        assert.doesNotMatch(error.message, /PHM_DATA_DIR|free space/);
        return WAY_BACK.test(error.message);
      },
    );
  });

  it('is refused if its log is damaged and SQLite would drop durable rows', async () => {
    const path = await filledWithLog();
    const log = `${path}-wal`;
    // In the page of the first frame, after the headers of log and frame.
    overwrite(log, 32 + 24 + 100, Buffer.alloc(8, 0xa5));
    const before = readFileSync(log);
    assert.match(await refusal(path), /log is damaged at frame 1, and \d+ committed transactions/);
    assert.deepEqual(readFileSync(log), before, 'the log stays as it is');
  });

  it('is reported by phm ledger verify if its log is damaged', async () => {
    const path = await filledWithLog();
    // Behind the schema, and before the last commits.
    const frames = Math.floor(statSync(`${path}-wal`).size / (24 + PAGE));
    overwrite(`${path}-wal`, 32 + (frames - 30) * (24 + PAGE) + 100, Buffer.alloc(8, 0xa5));
    const { findings } = await verifyLedger(
      { kind: 'sqlite', path },
      { nowMs: NOW, signal: new AbortController().signal, onProgress: () => {} },
    );
    const [{ problem, examples } = { problem: '', examples: [] }] = findings;
    assert.equal(problem, 'the file is damaged');
    assert.match(examples[0] ?? '', /^its log is damaged at frame \d+, and \d+ committed/);
  });

  it('is accepted while another process writes a frame of its log', async (test) => {
    const path = await filledWithLog();
    const { readSync } = fs;
    let halfWritten = 0;
    const read = (file: number, bytes: Buffer, offset: number, length: number, at: number) => {
      const count = readSync(file, bytes, offset, length, at);
      if (at === 32 && halfWritten === 0) {
        halfWritten += 1;
        bytes.fill(0, 2_000, 24 + PAGE);
      }
      return count;
    };
    test.mock.method(fs, 'readSync', read as typeof readSync);
    syncBuiltinESMExports();
    const { report } = await checkAtStart(path);
    test.mock.restoreAll();
    syncBuiltinESMExports();
    assert.deepEqual([halfWritten, report?.result.kind], [1, 'sound']);
  });

  it('is accepted if only the last transaction of its log is incomplete', async () => {
    const path = await filledWithLog();
    const { size } = statSync(`${path}-wal`);
    overwrite(`${path}-wal`, size - 10, randomBytes(10));
    assert.equal((await checkAtStart(path)).report?.result.kind, 'sound');
  });

  it('is refused if it is empty or missing after a server ran there, and is created otherwise', async () => {
    const emptied = join(newDirectory(), 'phm.db');
    writeFileSync(emptied, '');
    await checkAtStart(emptied);
    writeFileSync(join(emptied, '../master.key'), '5a'.repeat(32));
    assert.match(
      await refusal(emptied),
      /phm\.db is empty, and .*master\.key shows.*restore FILE\nTo start/s,
    );
    assert.equal(statSync(emptied).size, 0);
    rmSync(emptied);
    // The operator puts the secret there before the first start.
    assert.deepEqual(await checkAtStart(emptied), { report: null, pending: null });
    writeFileSync(join(emptied, '../directory.id'), 'ab'.repeat(16));
    assert.match(await refusal(emptied), /there is no database .*directory\.id shows/);
    assert.equal(existsSync(emptied), false);
  });

  it('is refused if another program created it, or without a schema after a server ran there', async () => {
    const path = join(newDirectory(), 'phm.db');
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE t (a); DROP TABLE t; VACUUM');
    assert.equal((await checkAtStart(path)).report?.result.kind, 'sound');
    writeFileSync(join(path, '../directory.id'), 'ab'.repeat(16));
    assert.match(await refusal(path), /phm\.db holds no ledger, and .*directory\.id shows/);
    database.exec('CREATE TABLE t (a); PRAGMA user_version = 8');
    const before = readFileSync(path);
    assert.throws(() => openSqliteStore({ path, quotas: QUOTAS }), /not a database of this serv/);
    database.exec('PRAGMA user_version = 0');
    rmSync(join(path, '../directory.id'));
    assert.throws(() => openSqliteStore({ path, quotas: QUOTAS }), /not a database of this serv/);
    database.close();
    assert.equal(readFileSync(path).length, before.length);
    mkdirSync(join(newDirectory(), 'phm.db'));
    const directory = join(folder, String(made - 1), 'phm.db');
    assert.throws(() => openSqliteStore({ path: directory, quotas: QUOTAS }), /it is a directory/);
  });

  it('is checked in the background if the check outlasts its time limit at startup', async () => {
    const path = await filled();
    const running = startCheck(path, 'quick_check');
    const reports: string[] = [];
    await new Promise<void>((done) => {
      const watch = new IntegrityWatch({
        path,
        pending: running,
        firstMs: 0,
        onReport: ({ check, result }) => {
          reports.push(`${check} ${result.kind}`);
          if (reports.length === 1) overwrite(path, 4 * PAGE, Buffer.alloc(3 * PAGE, 0x5a));
        },
        onDamage: (message) => {
          assert.match(message, WAY_BACK);
          watch.stop();
          done();
        },
      });
    });
    assert.deepEqual(reports, ['quick_check sound', 'integrity_check damaged']);
  });

  it('is not judged by code that is not the server’s', async (t) => {
    const path = await filled();
    overwrite(path, 4 * PAGE, Buffer.alloc(3 * PAGE, 0x5a));
    const result = await new Promise<CheckResult>((done) => {
      const watch = new IntegrityWatch({
        path,
        pending: null,
        firstMs: 0,
        onReport: (report) => done(report.result),
        onDamage: assert.fail,
        software: 'phm-key-service/0.0.0+other',
      });
      t.after(() => watch.stop());
    });
    assert.ok(result.kind === 'failed');
    assert.match(result.reason, /files have changed since the server started: restart the server$/);
  });

  it('stops startup with exit code 1 and the recovery steps, and leaves its files unchanged', async () => {
    const path = await filled();
    overwrite(path, 4 * PAGE, Buffer.alloc(3 * PAGE, 0x5a));
    const before = readFileSync(path);
    const { code, stderr } = await runPhm(['serve'], join(path, '..'));
    assert.equal(code, 1);
    assert.match(lastReason(stderr), /^the database .*phm\.db is damaged: .*ledger restore FILE$/m);
    assert.deepEqual(readFileSync(path), before);
  });

  it('is named if it is not writable', {
    skip: writesAnyFile() && 'this user may write everything',
  }, async () => {
    const path = await filled();
    chmodSync(path, 0o400);
    assert.match(await refusal(path), /phm\.db is read-only for this user/);
    const { code, stderr } = await runPhm(['ledger', 'verify'], join(path, '..'));
    assert.deepEqual([code, /phm\.db is read-only for this/.test(stderr)], [1, true], stderr);
    assert.equal(existsSync(`${path}-shm`), false, 'no file with its mode is left beside it');
    chmodSync(path, 0o600);
    writeFileSync(`${path}-shm`, '', { mode: 0o400 });
    writeFileSync(`${path}-wal`, '', { mode: 0o400 });
    assert.match(
      await refusal(path),
      /phm\.db-wal and \/.*phm\.db-shm are read-only .* A command .* run chmod 600 \S+-wal \S+-shm$/,
    );
    for (const side of ['-wal', '-shm']) rmSync(path + side);
    chmodSync(path, 0);
    assert.match(await refusal(path), /phm\.db is not readable by this user/);
  });
});

describe("the log of SQLite's database", () => {
  /** Returns the log of a database with pages of this size, after a few commits and more statements. */
  function logWith(pageBytes: number, more = ''): string {
    const path = join(newDirectory(), 'pages.db');
    const database = new DatabaseSync(path);
    database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL; CREATE TABLE t (a)`);
    for (let i = 0; i < 3; i++) database.exec('INSERT INTO t VALUES (1)');
    database.exec(more);
    copyFileSync(`${path}-wal`, `${path}.log`);
    database.close();
    return `${path}.log`;
  }

  /** Writes a page size into the header of a log, with the checksum that a header of little-endian sums has. */
  function setPageSize(log: string, pageBytes: number): void {
    const header = readFileSync(log).subarray(0, 32);
    header.writeUInt32BE(0x377f0682, 0);
    header.writeUInt32BE(pageBytes, 8);
    let [first, second] = [0, 0];
    for (let at = 0; at < 24; at += 8) {
      first = (first + header.readUInt32LE(at) + second) >>> 0;
      second = (second + header.readUInt32LE(at + 4) + first) >>> 0;
    }
    header.writeUInt32BE(first, 24);
    header.writeUInt32BE(second, 28);
    overwrite(log, 0, header);
  }

  for (const bytes of [512, 4_096, 65_536]) {
    it(`is read with pages of ${bytes} bytes`, () => {
      const log = logWith(bytes);
      assert.equal(findWalDamage(log), null);
      overwrite(log, 32 + 24 + 100, Buffer.alloc(8, 0xa5));
      assert.match(findWalDamage(log) ?? '', /damaged at frame 1, and [2-9] committed/);
    });
  }

  it('may end with one commit that is incomplete, and not with two', () => {
    const log = logWith(4_096);
    const { size } = statSync(log);
    overwrite(log, size - 100, Buffer.alloc(8, 0xa5));
    assert.equal(findWalDamage(log), null);
    overwrite(log, size - 24 - 4_096 - 100, Buffer.alloc(8, 0xa5));
    assert.match(findWalDamage(log) ?? '', /and 2 committed transactions are in it or after it$/);
  });

  it('ends before the frames of a log that it was begun over', () => {
    const over = 'PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (2)';
    const log = logWith(4_096, over);
    assert.ok(statSync(log).size > 32 + 2 * (24 + 4_096), 'earlier frames are left');
    assert.equal(findWalDamage(log), null);
  });

  it('is empty with a header of zeros, and without a frame whatever its header holds', () => {
    const log = logWith(4_096);
    overwrite(log, 0, Buffer.alloc(32));
    assert.equal(findWalDamage(log), null);
    overwrite(log, 0, Buffer.alloc(32, 0xa5));
    assert.equal(findWalDamage(log), 'the header of its log is damaged');
    for (const bytes of [32, 7, 0]) {
      truncateSync(log, bytes);
      assert.equal(findWalDamage(log), null, `${bytes} bytes`);
    }
    rmSync(log);
    assert.equal(findWalDamage(log), null);
  });

  it('is damaged if its header names pages that SQLite does not have', () => {
    const log = logWith(4_096);
    setPageSize(log, 4_096);
    assert.equal(findWalDamage(log), null);
    for (const bytes of [0, 256, 4_095, 6_144, 131_072]) {
      setPageSize(log, bytes);
      assert.equal(findWalDamage(log), 'the header of its log is damaged', `${bytes}`);
    }
  });
});

describe('damage found by a statement', () => {
  it('disables the store for good', async () => {
    const path = await filled();
    const store = openSqliteStore({ path, quotas: QUOTAS });
    const { size } = statSync(path);
    const sound = readFileSync(path);
    overwrite(path, PAGE, Buffer.alloc(size - PAGE, 0x5a));
    const isRefused = (error: unknown) =>
      error instanceof AppError &&
      error.code === 'ledger_unavailable' &&
      /is damaged: .*ledger restore FILE$/s.test(String((error.cause as Error).message));
    await assert.rejects(store.commit([keyRequest('acct_a')], []), isRefused);
    overwrite(path, 0, sound);
    await assert.rejects(store.commit([keyRequest('acct_a')], []), isRefused);
    await assert.rejects(areRecorded(store, [Buffer.alloc(16)]), isRefused);
    await store.close();
  });
});

describe('the master secret file', { skip: process.platform === 'win32' }, () => {
  it('causes a warning if other users can read, change or replace it', () => {
    const directory = newDirectory();
    const path = join(directory, 'master.key');
    writeFileSync(path, '');
    const warnings = (fileMode: number, directoryMode: number, kind: 'managed' | 'file') => {
      chmodSync(path, fileMode);
      chmodSync(directory, directoryMode);
      return secretExposures({ kind, path }).map((text) =>
        /^(.*?) can (\w+)/.exec(text)?.slice(1).join(': '),
      );
    };
    const everyone = 'every user of this machine';
    const group = 'the group of its file';
    assert.deepEqual(warnings(0o600, 0o700, 'managed'), []);
    assert.deepEqual(warnings(0o644, 0o755, 'managed'), [`${everyone}: read`]);
    assert.deepEqual(warnings(0o640, 0o750, 'managed'), [`${group}: read`]);
    assert.deepEqual(warnings(0o440, 0o1777, 'file'), [], 'as Kubernetes mounts it');
    assert.deepEqual(warnings(0o444, 0o755, 'file'), [`${everyone}: read`]);
    assert.deepEqual(warnings(0o660, 0o777, 'managed'), [
      `${group}: read`,
      `${group}: change`,
      `${everyone}: replace`,
    ]);
    assert.deepEqual(secretExposures({ kind: 'environment', text: '' }), []);
    const spaced = join(directory, 'my key');
    writeFileSync(spaced, '');
    chmodSync(spaced, 0o644);
    assert.match(
      secretExposures({ kind: 'file', path: spaced }).join(),
      /Run chmod 600 '\/.*my key',/,
    );
  });
});
