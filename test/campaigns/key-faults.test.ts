/**
 * Every experiment (a sixth in a sample) of docs/evidence/key-faults.md on real servers: each stops within ten keys, or the page says why not.
 * test/keys/altered-key.test.ts has the stages inside one thread.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { EXPERIMENTS, runKeyFault } from '../support/faults/key-fault-run.ts';
import { sized } from '../support/run/campaign.ts';

const MOST = 10;

const page = readFileSync(new URL('../../docs/evidence/key-faults.md', import.meta.url), 'utf8');

describe('a fault in the path of a key', () => {
  for (const experiment of EXPERIMENTS.filter((_, i) => i % sized({ sample: 6, full: 1 }) === 0)) {
    const { stage, fault, asked } = experiment;
    it(`behaves as the page says: ${stage}, ${fault}, ${asked}`, async () => {
      const row = page
        .split('\n')
        .find((line) => line.startsWith(`| ${stage} | ${fault} | ${asked} |`));
      assert.ok(row, 'the page has no such row');
      const [, , , , keys, stoppedBy] = row.split('|').map((cell) => cell.trim());
      const outcome = await runKeyFault(experiment, MOST + 1);
      assert.equal(outcome.stoppedBy, stoppedBy);
      if (stoppedBy === 'nothing') assert.ok(page.includes(`**${fault}**`), 'the page says why');
      else assert.ok(outcome.released <= MOST && outcome.released === Number(keys), row);
    });
  }
});
