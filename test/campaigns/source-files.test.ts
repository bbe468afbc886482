/** The test files of docs/evidence/source-files.md: `phm assess` fails each in the parts and rows that the page names. */
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
} from '../sp800-22/source-files.ts';
import { runCommand } from '../support/servers/run-command.ts';

interface Judged {
  readonly judged: boolean;
  readonly passed?: boolean;
}

interface Group {
  readonly verdict: {
    readonly passed: boolean | null;
    readonly parts: readonly (Judged & { readonly name: string })[];
  };
  readonly second_level: { readonly rows?: readonly (Judged & { test: string; label: string })[] };
}

interface Report {
  readonly sequences: readonly unknown[];
  readonly summary: Group & { readonly passed: boolean | null; readonly supplements: Group };
}

/** What the command says of the form of a file that it reads as binary. */
const HINTS: Readonly<Record<string, RegExp>> = {
  periodic: /^hint: the same 8 bytes stand at bytes 0 and 8192 of what is tested: /,
  'lcg-low':
    /^hint: bits 0, 8 of every 16-bit word \(little-endian\) never change: .*\nhint: the same 8 bytes stand at bytes 0 and 256 /,
  ascii: /^hint: what is tested begins as a text: give its format\n$/,
  hex: /^hint: what is tested begins as a text: give its format\n$/,
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
    ...['assess', path, ...options, '--supplements', '--json'],
    ...args,
  ]);
  const { sequences, summary }: Report = JSON.parse(stdout);
  assert.equal(sequences.length, file.sequences);
  const { passed, verdict, supplements } = summary;
  assert.equal(passed, verdict.passed && supplements.verdict.passed !== false);
  assert.equal(code, passed ? 0 : 1);
  return { ...failuresOf(summary), supplements: failuresOf(supplements), stderr };
}

/** Returns what the command says of a file that it refuses. */
async function refused(path: string): Promise<string> {
  const { code, stdout, stderr } = await runCommand(['assess', path]);
  assert.deepEqual([code, stdout], [2, '']);
  return stderr;
}

/** Parts and rows that failed. */
interface Failures {
  readonly parts: readonly string[];
  readonly rows: readonly string[];
}

const NONE: Failures = { parts: [], rows: [] };

const hasFailed = ({ judged, passed }: Judged): boolean => judged && passed === false;

function failuresOf({ verdict, second_level: { rows = [] } }: Group): Failures {
  const parts = verdict.parts.filter(hasFailed).map(({ name }) => name);
  assert.equal(verdict.passed === false, parts.length > 0);
  return {
    parts,
    rows: rows.filter(hasFailed).map(({ test, label }) => `${test} ${label}`.trimEnd()),
  };
}

/** Asserts that exactly these failed; if the last one is `MORE`, these among others. */
function assertFailed(actual: readonly string[], all: readonly string[]): void {
  const expected = all.filter((one) => one !== MORE);
  if (all.at(-1) !== MORE) {
    assert.deepEqual(actual, expected);
  } else {
    assert.ok(actual.length > 0);
    for (const one of expected) assert.ok(actual.includes(one), `${one}: ${actual}`);
  }
}

const REFUSALS: Readonly<Partial<Record<SourceFile['format'], RegExp>>> = {
  ascii: /ascii\.txt looks like digits 0 and 1\. No verdict: use --format ascii;/,
  hex: /hex\.hex looks like hexadecimal digits\. No verdict: use --format hex;/,
  gzip: /gzip\.txt\.gz is read as gzip, and what it holds looks like digits 0 and 1\. No verdict: use --format gzip:ascii\n/,
};

/** The name of the form under which the bits of a text are those of the source. */
const FORMATS: Readonly<Partial<Record<SourceFile['format'], string>>> = {
  ...{ ascii: 'ascii', hex: 'hex', gzip: 'gzip:ascii' },
};

describe('phm assess', () => {
  for (const file of FILES) {
    it(`${file.parts.length > 0 ? 'fails' : 'passes'} ${fileName(file)} as the page says`, async () => {
      const path = join(folder, fileName(file));
      writeFileSync(path, contentsOf(file));
      const refusal = REFUSALS[file.format];
      if (refusal) assert.match(await refused(path), refusal);
      const asItIs = refusal ? ['--format', 'binary'] : [];
      const { parts, rows, supplements, stderr } = await assess(path, file, ...asItIs);
      assertFailed(parts, file.parts);
      assertFailed(rows, file.rows);
      assertFailed(supplements.rows, file.supplements);
      assert.equal(supplements.parts.length > 0, file.supplements.length > 0);
      assert.match(stderr, HINTS[file.name] ?? /^$/);
      const format = FORMATS[file.format];
      if (format) {
        const read = await assess(path, file, '--format', format);
        assert.deepEqual(read, { ...NONE, supplements: NONE, stderr: '' });
      }
      rmSync(path);
    });
  }
});

describe('the page on test files', () => {
  it('has the table of the script', () => {
    const page = readFileSync(
      new URL('../../docs/evidence/source-files.md', import.meta.url),
      'utf8',
    );
    assert.ok(page.includes(`\n${tableLines().join('\n')}\n`));
  });
});
