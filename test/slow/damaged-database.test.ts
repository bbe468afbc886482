/**
 * Damages random bytes of SQLite files of 4 MB and starts the ledger of a server on each. The ledger refuses
 * the file and names the way back, or its answers are right. Of 300 files, a third have 20 to 300 damaged bytes
 * in the database, a third have damage in the log of a killed server, and a third have 1 to 5 damaged bytes in
 * the database.
 *
 * Then damages the database of a running server: in all pages, and in one index entry that only the full check
 * finds, a minute after the start. Expected: 503 to everything, not ready, and one error of each kind in the
 * log.
 *
 * Takes two to four minutes. The seed is `DAMAGE_SEED`, or 15; contents are random all the same. The test
 * counts which check sees the damage first. Expected: all 100 files with 20 or more damaged bytes in the
 * database are seen (with seed 15, all at the start), and all 100 with damage in the log at the start. Of the
 * 100 with 1 to 5 damaged bytes, 28 were seen at the start, 24 by the daily check, 28 by `verify` and 20 by
 * none: bytes of a commitment behind the fingerprint, random bits of a key ID, p-values, free space.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, SetupError } from '../../src/errors.ts';
import { verifyLedger } from '../../src/ledger/admin.ts';
import { checkAtStart, openSqliteStore } from '../../src/ledger/index.ts';
import { startCheck } from '../../src/ledger/sqlite/check.ts';
import { keyRequest, makeRow, NOW, QUOTAS } from '../ledger/contract.ts';
import { type Filled, fillStore } from '../ledger/filled-store.ts';
import { seededRandom } from '../support/mixed-load.ts';
import { until } from '../support/replicas.ts';
import {
  DEMO_KEY,
  lastReason,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../support/server.ts';

const SEED = Number(process.env.DAMAGE_SEED ?? 15);
const FILES = 300;
const ROWS = 8_000;

const folder = mkdtempSync(join(tmpdir(), 'phm-damaged-'));
after(() => rmSync(folder, { recursive: true }));

/** The check that saw the damage first. */
type Seen = 'start' | 'daily check' | 'verify' | 'statement' | 'nothing';

describe('a database with damaged bytes', () => {
  const clean = join(folder, 'clean.db');
  const killed = join(folder, 'killed.db');
  let filled: Filled;

  before(async () => {
    const store = openSqliteStore({ path: clean, quotas: QUOTAS });
    filled = await fillStore(store, ROWS);
    // As a killed server leaves it: the last 200 commits are only in the log.
    for (let i = 0; i < 200; i++) {
      await store.commit([keyRequest('acct_a', makeRow())], []);
      if (i === 0) copyFileSync(clean, killed);
    }
    copyFileSync(clean, killed);
    copyFileSync(`${clean}-wal`, `${killed}-wal`);
    await store.close();
  });

  it('is rejected or gives only correct answers', async (test) => {
    const random = seededRandom(SEED);
    const counts: Record<string, Record<Seen, number>> = {};
    for (let i = 0; i < FILES; i++) {
      const kind = (['database', 'log', 'few bytes'] as const)[i % 3] ?? 'log';
      const inLog = kind === 'log';
      const path = join(folder, `${i}.db`);
      copyFileSync(inLog ? killed : clean, path);
      if (inLog) copyFileSync(`${killed}-wal`, `${path}-wal`);
      const bytes =
        kind === 'few bytes' ? 1 + Math.floor(random() * 5) : 20 + Math.floor(random() * 281);
      damage(inLog ? `${path}-wal` : path, bytes, random);
      const seen = await examine(path);
      counts[kind] ??= { start: 0, 'daily check': 0, verify: 0, statement: 0, nothing: 0 };
      counts[kind][seen] += 1;
      for (const side of ['', '-wal', '-shm']) rmSync(path + side, { force: true });
    }
    test.diagnostic(`seed ${SEED}: ${JSON.stringify(counts)}`);
    assert.equal(counts.database?.nothing, 0, 'no damage of 20 bytes or more stays unseen');
    assert.equal(counts.log?.start, FILES / 3, 'no row of the log is forgotten unseen');
  });

  /** Starts on the file as a server does, reads every row, and runs the other checks. */
  async function examine(path: string): Promise<Seen> {
    try {
      await checkAtStart(path);
    } catch (error) {
      assert.ok(error instanceof SetupError, String(error));
      assert.match(error.message, /is damaged: .*phm ledger restore FILE$/s);
      return 'start';
    }
    const full = await startCheck(path, 'integrity_check', { mayBlock: true }).report;
    const location = { kind: 'sqlite', path } as const;
    const signal = new AbortController().signal;
    const { findings } = await verifyLedger(location, { nowMs: NOW, signal, onProgress: () => {} });
    const answered = await answers(path);
    if (answered === 'statement') return 'statement';
    if (full.result.kind === 'damaged') return 'daily check';
    return findings.length > 0 ? 'verify' : 'nothing';
  }

  /** Commits a key and looks up every row, as a server does. Returns `statement` if the damage stops that. */
  async function answers(path: string): Promise<'statement' | null> {
    const store = openSqliteStore({ path, quotas: QUOTAS });
    try {
      const [outcome] = await store.commit([keyRequest('acct_a', makeRow())], []);
      assert.equal(outcome?.kind, 'committed');
      await store.findCommitments(filled.rows.map(({ commitment }) => commitment));
      return null;
    } catch (error) {
      assert.ok(error instanceof AppError && error.code === 'ledger_unavailable', String(error));
      return 'statement';
    } finally {
      await store.close();
    }
  }
});

describe('a server whose database is damaged at run time', () => {
  let dataDir: string;
  let server: Server;
  let path: string;

  beforeEach(async () => {
    dataDir = makeDataDir();
    path = join(dataDir, 'phm.db');
    const env = { PHM_RATE_LIMITS: 'off', PHM_METRICS_PORT: '0' };
    const first = await Server.start(dataDir, env);
    for (let i = 0; i < 300; i++) assert.equal((await generate(first)).status, 200);
    // The last close moves the log into the database.
    await first.stop();
    server = await Server.start(dataDir, env);
  });
  afterEach(async () => {
    await server.stop('SIGKILL');
    removeDataDir(dataDir);
  });

  it('answers 503, is not ready, logs the damage once, and does not start again', async () => {
    writeFileSync(path, readFileSync(path).fill(0x5a, 4096));
    await assertOut();
    assert.deepEqual(errors(), ['the ledger cannot be used']);
    await server.stop();
    const { code, stderr } = await runPhm(['serve'], dataDir);
    assert.equal(code, 1);
    assert.match(lastReason(stderr), /is damaged: .*ledger restore FILE$/m);
  });

  it('does the same if only the full check after startup finds the damage', async () => {
    changeIndex(path);
    assert.equal((await server.request('/readyz')).status, 200);
    await server.logged('integrity_check');
    await assertOut();
    // The last two come from two threads.
    const [first, ...rest] = errors();
    assert.equal(first, 'the database is damaged');
    assert.deepEqual(rest.sort(), [
      'the ledger cannot be used',
      'the transparency log has stopped',
    ]);
    assert.match(await server.scrape(), /^phm_ledger_damage_found_total 1$/m);
    const found = lines().find(({ msg }) => msg === 'the database is damaged');
    assert.equal(found?.check, 'integrity_check');
  });

  const generate = (one: Server) => one.post('/api/v2/generate', { security_level: 256 }, DEMO_KEY);

  /** Nothing is served for as long as two checks of the ledger take. */
  async function assertOut(): Promise<void> {
    await until('the server is not ready', async () => {
      const { status, headers, body } = await generate(server);
      assert.deepEqual([status, body.code], [503, 'ledger_unavailable']);
      assert.ok(headers.get('retry-after'));
      return (await server.request('/readyz')).status === 503;
    });
    for (let i = 0; i < 10; i++) {
      await delay(500);
      assert.equal((await generate(server)).status, 503);
      const { status, body } = await server.request('/readyz');
      assert.deepEqual([status, body.checks.ledger], [503, 'unavailable']);
    }
  }

  const lines = () =>
    server.log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { level: number; msg: string; check?: string });

  /** Returns the errors about the ledger in the log. */
  const errors = () =>
    lines()
      .filter(({ level }) => level >= 50)
      .map(({ msg }) => msg);
});

const PAGE = 4096;

/**
 * First byte of the pages with entries of the index: merged ones, and recent ones. Rows of the ledger are in pages of
 * the first kind, each with the fingerprint twice.
 */
const LEAVES = [10, 13];

/** Changes a fingerprint only in its index, which no statement of a server notices. */
function changeIndex(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  const sql = 'SELECT commitment FROM ledger ORDER BY fingerprint LIMIT 1 OFFSET 20';
  const { commitment } = database.prepare(sql).get() as { commitment: Uint8Array };
  database.close();
  const file = readFileSync(path);
  const fingerprint = Buffer.from(commitment.subarray(0, 8));
  for (let at = file.indexOf(fingerprint); at >= 0; at = file.indexOf(fingerprint, at + 1)) {
    const isAlone =
      file.indexOf(fingerprint, at + 1) !== at + 8 &&
      file.lastIndexOf(fingerprint, at - 1) !== at - 8;
    if (!isAlone || !LEAVES.includes(file[at - (at % PAGE)] ?? 0)) continue;
    file[at + 7] = (file[at + 7] ?? 0) ^ 1;
    writeFileSync(path, file);
    return;
  }
  assert.fail('the index has the fingerprint');
}

/** Changes bytes at random places of the file, each to another value. */
function damage(path: string, count: number, random: () => number): void {
  const bytes = readFileSync(path);
  for (let i = 0; i < count; i++) {
    const at = Math.floor(random() * bytes.length);
    bytes[at] = ((bytes[at] ?? 0) + 1 + Math.floor(random() * 255)) & 0xff;
  }
  writeFileSync(path, bytes);
}
