/** A sample of docs/evidence/second-level.md: sound files of three lengths. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { minimumBits, NIST_PARAMETERS, resolveParameters, TEST_NAMES } from '#sp800-22';
import { readClasses, saveClasses } from '../../../packages/lab/studies/second-level/classes.ts';
import { judgeFiles } from '../../../packages/lab/studies/second-level/files.ts';
import { formatTable } from '../../../packages/lab/studies/second-level/table.ts';

const ROOT = new URL('../../../', import.meta.url);
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

describe('sound sources', () => {
  it('fail as often as it is published, with the default parameters', () => {
    const script = ['packages/lab/studies/sound-source-rates.ts', '1000', '55', '128'];
    const line = execFileSync(process.execPath, script, { cwd: ROOT, encoding: 'utf8' });
    const published = read('docs/evidence/second-level/sources.txt').split('\n');
    assert.ok(published.includes(line.trim()), line);
  });
});

describe('the table of limits', () => {
  it('follows from the published counts', () => {
    const counts = JSON.parse(read('docs/evidence/second-level/counts.json'));
    assert.equal(formatTable(counts), read('packages/sp800-22/src/second-level-table.ts'));
  });
});
