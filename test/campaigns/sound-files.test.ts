/** Samples of docs/evidence/second-level.md and source-rule.md: sound files of three lengths, and sound sources. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { minimumBits, NIST_PARAMETERS, resolveParameters, TEST_NAMES } from '#sp800-22';
import { readClasses, saveClasses } from '../../packages/lab/studies/second-level/classes.ts';
import { judgeFiles } from '../../packages/lab/studies/second-level/files.ts';
import { formatTable } from '../../packages/lab/studies/second-level/table.ts';
import { measureRates, rateTable } from '../../packages/lab/studies/source-rule/rates.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

describe('sound files', () => {
  for (const [bits, files] of [
    [1000, 200],
    [10_000, 50],
    [2 ** 20, 20],
  ] as const) {
    it(`of 55 sequences of ${bits} bits fail in about 1 %`, (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'phm-sound-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const parameters = resolveParameters(bits, NIST_PARAMETERS);
      const tests = TEST_NAMES.filter((test) => minimumBits(test, parameters) <= bits);
      saveClasses(folder, bits, 55 * files, tests);
      const counts = judgeFiles(readClasses(folder, bits), bits, 55);
      assert.equal(counts.files, files);
      // 1 % of 200 is 2; more than 6 have a probability of 0.4 %.
      assert.ok(counts.failed <= 1 + files / 40, `${counts.failed} of ${files} failed`);
    });
  }
});

/** Returns a line of the table without the bound, which depends on the number of lines. */
function withoutBound(line: string): string {
  return line.split('|').toSpliced(6, 1).join('|');
}

describe('sound sources', () => {
  it('fail the rule as often as it is published', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'phm-sound-'));
    t.after(() => rmSync(folder, { recursive: true }));
    measureRates(folder, { bits: 128, sources: 1000, sequences: 55 });
    const lines = rateTable(folder).filter((line) => line.startsWith('| 128 '));
    assert.equal(lines.length, 6, 'after 1, 2, 5, 10, 54 and 55 sequences');
    const published = read('docs/evidence/source-rule.md').split('\n').map(withoutBound);
    for (const line of lines) assert.ok(published.includes(withoutBound(line)), line);
  });
});

describe('the table of limits', () => {
  it('follows from the published counts', () => {
    const counts = JSON.parse(read('docs/evidence/second-level/counts.json'));
    assert.equal(formatTable(counts), read('packages/sp800-22/src/second-level-table.ts'));
  });
});
