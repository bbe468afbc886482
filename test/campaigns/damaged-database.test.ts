/**
 * Damages random bytes of SQLite files of 4 MB and starts the ledger of a server on each. The ledger refuses
 * the file and names the way back, or its answers are right. Of 300 files (30 in a sample), a third have 20 to 300 damaged bytes
 * in the database, a third have damage in the log of a killed server, and a third have 1 to 5 damaged bytes in
 * the database.
 *
 * Takes one to three minutes in full. The seed is `DAMAGE_SEED`, or 15; contents are random all the same. The test
 * counts which check sees the damage first. Expected: all 100 files with 20 or more damaged bytes in the
 * database are seen (with seed 15, all at the start), and all 100 with damage in the log at the start. Of the
 * 100 with 1 to 5 damaged bytes, 28 were seen at the start, 24 by the daily check, 28 by `verify` and 20 by
 * none: bytes of a commitment behind the fingerprint, random bits of a key ID, p-values, free space.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AppError, SetupError } from '../../src/errors.ts';
import { verifyLedger } from '../../src/ledger/admin.ts';
import { checkAtStart, openSqliteStore } from '../../src/ledger/index.ts';
import { startCheck } from '../../src/ledger/sqlite/check.ts';
import { keyRequest, makeRow, NOW, QUOTAS } from '../ledger/contract.ts';
import { type Filled, fillStore } from '../ledger/filled-store.ts';
import { seededRandom } from '../support/clients/mixed-load.ts';
import { sized } from '../support/run/campaign.ts';

const SEED = Number(process.env.DAMAGE_SEED ?? 15);
const FILES = sized({ sample: 30, full: 300 });
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

/** Changes bytes at random places of the file, each to another value. */
function damage(path: string, count: number, random: () => number): void {
  const bytes = readFileSync(path);
  for (let i = 0; i < count; i++) {
    const at = Math.floor(random() * bytes.length);
    bytes[at] = ((bytes[at] ?? 0) + 1 + Math.floor(random() * 255)) & 0xff;
  }
  writeFileSync(path, bytes);
}
