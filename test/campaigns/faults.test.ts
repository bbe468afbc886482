/**
 * Some of the random faults of `scripts/faults.ts` under load: 12 on PostgreSQL with a synchronous standby, and beside
 * them 12 on SQLite; 3 and 3 in a sample. About 110 s in full, seed 15. Expected: no released key without its row, no ready
 * server that generates no keys, no 503 outside the contract.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { noFaults, printRun, runFaults } from '../support/faults/random/run.ts';
import { sized } from '../support/run/campaign.ts';

const SEED = 15;
const FAULTS = sized({ sample: 3, full: 12 });

/** Each of these takes half a minute to a minute. */
const LONG = /^clock: a server|rotation/;

describe('random faults under load', { concurrency: true }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'phm-faults-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const store of ['postgres', 'sqlite'] as const) {
    it(`lose nothing and conceal nothing: ${store}`, { skip: noFaults(store) }, async (test) => {
      let left = FAULTS;
      const run = await runFaults({
        store,
        checkout: resolve(import.meta.dirname, '../..'),
        folder: join(folder, store),
        seed: SEED,
        goesOn: () => left-- > 0,
        only: /(?:)/,
        without: LONG,
        tell: ({ fault, chosen }) => test.diagnostic(`${fault}: ${chosen}`),
      });
      assert.ok(run.sound, printRun(run));
      test.diagnostic(`${run.released} keys released, ${run.rows} rows`);
      assert.equal(run.faults, FAULTS);
      assert.ok(run.rows >= run.released && run.released > 0);
    });
  }
});
