/** Checks docs/evidence/key-faults.md against the experiments. test/campaigns/key-faults.test.ts runs them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { EXPERIMENTS } from '../support/faults/key-fault-run.ts';

const page = readFileSync(new URL('../../docs/evidence/key-faults.md', import.meta.url), 'utf8');

it('docs/evidence/key-faults.md has a row for each experiment, and says why if nothing stops one', () => {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.split('|').map((cell) => cell.trim()));
  assert.deepEqual(
    rows.map(([, stage, fault, asked]) => [stage, fault, asked]),
    EXPERIMENTS.map(({ stage, fault, asked }) => [stage, fault, asked]),
  );
  for (const [, , fault, , keys, stoppedBy] of rows) {
    if (stoppedBy === 'nothing') assert.ok(page.includes(`**${fault}**`), fault);
    else assert.ok(Number(keys) <= 10, fault);
  }
});
