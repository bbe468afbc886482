/** The table of limits in docs/statistical-tests.md is that of the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import {
  minimumBits,
  resolveParameters,
  rowLabels,
  SECOND_LEVEL_MINIMUM_SEQUENCES,
  TEST_NAMES,
} from '../../../sp800-22/src/index-node.ts';
import { pValueLaw } from '../../../sp800-22/src/p-value-laws.ts';
import { judgeableSequences } from '../../../sp800-22/src/second-level-limits.ts';

/** Lengths of the table, and the limit from which on it says nothing. */
const LENGTHS = [100, 128, 1_000, 10_000, 100_000, 1_048_576];
const SHOWN_BELOW = 10_000;

const grouped = (count: number): string => count.toLocaleString('en-US');

function cell(limit: number): string {
  if (limit >= SHOWN_BELOW) return '-';
  return limit < SECOND_LEVEL_MINIMUM_SEQUENCES ? 'never' : grouped(limit);
}

/** Returns the name of the rows that have this label. */
function nameOf(test: string, label: string, index: number): string {
  if (label.startsWith('x=')) return `\`${test}\` x = ±${label.replace(/^x=-?/, '')}`;
  if (test !== 'block_frequency') return `\`${test}\``;
  return `\`${test}\`${index === 1 ? '' : ', recommended row'}`;
}

function linesFor(n: number): string[] {
  const parameters = resolveParameters(n, {});
  const lines = TEST_NAMES.filter((test) => minimumBits(test, parameters) <= n).flatMap((test) =>
    rowLabels(test, n).flatMap((label, i) => {
      const row = { test, label, index: i + 1 };
      if (pValueLaw(row, n, parameters).exact) return [];
      const { proportion, uniformity } = judgeableSequences(row, n, parameters);
      if (Math.min(proportion, uniformity) >= SHOWN_BELOW) return [];
      return [
        `| ${grouped(n)} | ${nameOf(test, label, i + 1)} | ${cell(proportion)} | ${cell(uniformity)} |`,
      ];
    }),
  );
  return lines.length === 0 ? [`| ${grouped(n)} | none | - | - |`] : [...new Set(lines)];
}

it('the page has the limits of the second level', () => {
  const page = readFileSync(
    new URL('../../../../docs/statistical-tests.md', import.meta.url),
    'utf8',
  );
  const [, table] =
    /\| Bits \| Rows \| Proportion \| Ten classes \|\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(page) ?? [];
  assert.equal(table, `${LENGTHS.flatMap(linesFor).join('\n')}\n`);
});
