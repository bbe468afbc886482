/**
 * Damages random bytes of SQLite files of 4 MB and starts a server's ledger on each: it is refused with the way back, or
 * what it answers is right. A third of 300 files has 20 to 300 damaged bytes in the database, a third in the log of a
 * killed server, a third has 1 to 5 in the database.
 *
 * Takes one to two minutes. The seed is `DAMAGE_SEED`, or 15; contents are random all the same. It counts which check is
 * the first to see the damage. Expected: all of the 100 files with 20 or more damaged bytes in the database are seen (with
 * seed 15, all at the start), and all of the 100 with damage in the log at the start. Of the 100 with 1 to 5 damaged bytes
 * 28 were seen at the start, 24 by the daily check, 28 by `verify` and 20 by none: bytes of a commitment behind the
 * fingerprint, random bits of a key id, p-values, free space.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AppError, SetupError } from '../../src/errors.ts';
import { checkAtStart, openSqliteStore, verifyLedger } from '../../src/ledger/index.ts';
import { startCheck } from '../../src/ledger/sqlite-check.ts';
import { keyRequest, makeRow, NOW, QUOTAS } from '../ledger/contract.ts';
import { type Filled, fillStore } from '../ledger/filled-store.ts';
import { seededRandom } from '../support/mixed-load.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, runPhm, Server } from '../support/server.ts';

const SEED = Number(process.env.DAMAGE_SEED ?? 15);
const FILES = 300;
const ROWS = 8_000;

const folder = mkdtempSync(join(tmpdir(), 'phm-damaged-'));
after(() => rmSync(folder, { recursive: true }));

/** Which check was the first to see the damage. */
type Seen = 'start' | 'daily check' | 'verify' | 'statement' | 'nothing';

describe('a database with damaged bytes', () => {
  const clean = join(folder, 'clean.db');
  const killed = join(folder, 'killed.db');
  let filled: Filled;

  before(async () => {
    const store = openSqliteStore({ path: clean, quotas: QUOTAS });
    filled = await fillStore(store, ROWS);
    // As a killed server leaves it: the last 200 commits are in the log alone.
    for (let i = 0; i < 200; i++) {
      await store.commit([keyRequest('acct_a', makeRow())], []);
      if (i === 0) copyFileSync(clean, killed);
    }
    copyFileSync(clean, killed);
    copyFileSync(`${clean}-wal`, `${killed}-wal`);
    await store.close();
  });

  it('is refused, or says nothing that is wrong', async (test) => {
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

  /** Starts on the file as a server does, asks for every row, and has the other checks look at it. */
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

  /** What a server would answer: a row that is found is one that was written. */
  async function answers(path: string): Promise<'statement' | null> {
    const store = openSqliteStore({ path, quotas: QUOTAS });
    try {
      const [outcome] = await store.commit([keyRequest('acct_a', makeRow())], []);
      assert.equal(outcome?.kind, 'committed');
      const queries = filled.rows.map(({ secretVersion, commitment, fingerprint }) => ({
        version: secretVersion,
        digest: commitment,
        fingerprint,
      }));
      await store.findCommitments(queries);
      return null;
    } catch (error) {
      assert.ok(error instanceof AppError && error.code === 'ledger_unavailable', String(error));
      return 'statement';
    } finally {
      await store.close();
    }
  }
});

describe('a server whose database is damaged while it runs', () => {
  it('answers 503, is not ready, says so once, and does not start again', async () => {
    const dataDir = makeDataDir();
    const generate = (server: Server) =>
      server.post('/api/v2/generate', { security_level: 256 }, DEMO_KEY);
    try {
      const server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
      for (let i = 0; i < 300; i++) assert.equal((await generate(server)).status, 200);
      await server.stop();
      const again = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
      const path = join(dataDir, 'phm.db');
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0x5a, 4096));
      const { status, headers, body } = await generate(again);
      assert.deepEqual([status, body.code], [503, 'ledger_unavailable']);
      assert.ok(headers.get('retry-after'));
      await again.stop();
      const { code, stderr } = await runPhm(['serve'], dataDir);
      assert.equal(code, 1);
      assert.match(stderr, /is damaged: .*ledger restore FILE$/m);
    } finally {
      removeDataDir(dataDir);
    }
  });
});

/** Changes bytes at random places of the file, each to another value. */
function damage(path: string, count: number, random: () => number): void {
  const bytes = readFileSync(path);
  for (let i = 0; i < count; i++) {
    const at = Math.floor(random() * bytes.length);
    bytes[at] = ((bytes[at] ?? 0) + 1 + Math.floor(random() * 255)) & 0xff;
  }
  writeFileSync(path, bytes);
}
