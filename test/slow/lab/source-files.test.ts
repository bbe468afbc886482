/** The test files of docs/evidence/source-files.md: `phm assess` fails each in the rows that the page names. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  contentsOf,
  FILES,
  fileName,
  MORE,
  type SourceFile,
  tableLines,
} from '../../sp800-22/source-files.ts';
import { runCommand } from '../../support/run-command.ts';

interface Group {
  readonly judged: boolean;
  readonly rows?: readonly { test: string; label: string; judged: boolean; passed?: boolean }[];
}

interface Report {
  readonly sequences: readonly unknown[];
  readonly summary: { second_level: Group; supplements: { second_level: Group } };
}

/** Tests to run on files that take long with all tests. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  'bias-0.51': ['frequency', 'autocorrelation'],
  periodic: ['rank', 'serial', 'byte_distribution'],
  'lcg-low': ['rank', 'serial', 'byte_distribution'],
  randu: ['frequency', 'serial', 'byte_distribution'],
};

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'phm-source-files-'));
});
after(() => rmSync(folder, { recursive: true }));

/** Runs the command on a file, and returns what failed. */
async function assess(path: string, file: SourceFile, ...args: readonly string[]) {
  const options = ['--bits', String(file.bits), '--sequences', String(file.sequences), '--fail'];
  const { code, stdout, stderr } = await runCommand([
    ...['assess', path, ...options, ...testsOf(file), '--json'],
    ...args,
  ]);
  const { sequences, summary }: Report = JSON.parse(stdout);
  assert.equal(sequences.length, file.sequences);
  const rows = failedRows(summary.second_level);
  const supplements = failedRows(summary.supplements.second_level);
  assert.equal(code, rows.length + supplements.length > 0 ? 1 : 0);
  return { rows, supplements, stderr };
}

/** Returns what the command says of a file that it refuses. */
async function refused(path: string): Promise<string> {
  const { code, stdout, stderr } = await runCommand(['assess', path]);
  assert.deepEqual([code, stdout], [2, '']);
  return stderr;
}

const testsOf = ({ name }: SourceFile): string[] =>
  ONLY[name]?.flatMap((test) => ['--test', test]) ?? ['--supplements'];

function failedRows({ rows = [] }: Group): string[] {
  const failed = rows.filter(({ judged, passed }) => judged && !passed);
  return failed.map(({ test, label }) => `${test} ${label}`.trimEnd());
}

/** Asserts that exactly these rows failed; of files with more rows, or not run with all tests, these among others. */
function assertRows({ name }: SourceFile, actual: readonly string[], all: readonly string[]): void {
  const ran = (row: string): boolean => ONLY[name]?.includes(row.split(' ')[0]) ?? true;
  const expected = all.filter((row) => row !== MORE && ran(row));
  if (all.length === 0 || (all.at(-1) !== MORE && !ONLY[name])) {
    assert.deepEqual(actual, expected);
  } else {
    assert.ok(actual.length > 0);
    for (const row of expected) assert.ok(actual.includes(row), `${row}: ${actual}`);
  }
}

const REFUSALS: Readonly<Partial<Record<SourceFile['format'], RegExp>>> = {
  ascii: /ascii\.txt looks like digits 0 and 1\. No verdict: use --format ascii;/,
  hex: /hex\.hex looks like hexadecimal digits\. No verdict: use --format hex;/,
  gzip: /gzip\.txt\.gz looks like gzip\. No verdict: use gzip -dc /,
};

describe('phm assess', () => {
  for (const file of FILES) {
    it(`${file.rows.length > 0 ? 'fails' : 'passes'} ${fileName(file)} as the page says`, async () => {
      const path = join(folder, fileName(file));
      writeFileSync(path, contentsOf(file));
      const refusal = REFUSALS[file.format];
      if (refusal) assert.match(await refused(path), refusal);
      const asItIs = refusal ? ['--format', 'binary'] : [];
      const { rows, supplements, stderr } = await assess(path, file, ...asItIs);
      assertRows(file, rows, file.rows);
      assertRows(file, supplements, file.supplements);
      assert.equal(stderr, '');
      if (file.format === 'ascii' || file.format === 'hex') {
        const read = await assess(path, file, '--format', file.format);
        assert.deepEqual(read, { rows: [], supplements: [], stderr: '' });
      }
      rmSync(path);
    });
  }
});

describe('the page on test files', () => {
  it('has the table of the script', () => {
    const page = readFileSync(
      new URL('../../../docs/evidence/source-files.md', import.meta.url),
      'utf8',
    );
    assert.ok(page.includes(`\n${tableLines().join('\n')}\n`));
  });
});
