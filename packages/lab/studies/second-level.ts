/**
 * Measures the p-values of sound sequences, and how often the second level fails sound files.
 *
 *   node packages/lab/studies/second-level.ts measure FOLDER BITS SEQUENCES [TEST…]
 *   node packages/lab/studies/second-level.ts count FOLDER
 *   node packages/lab/studies/second-level.ts table
 *   node packages/lab/studies/second-level.ts distances
 *   node packages/lab/studies/second-level.ts files FOLDER
 *   node packages/lab/studies/second-level.ts defects
 *
 * `measure` tests sequences of AES-256-CTR under fixed keys until FOLDER has SEQUENCES of them, for all tests or
 * those named. It saves as it goes, so you can stop and continue at any time. `count` adds the classes of their
 * p-values up into docs/evidence/second-level/counts.json, and `table` writes the limits that follow to
 * packages/sp800-22/src/second-level-table.ts. `distances` prints how far the simulated p-values are from their
 * distributions, for distances.txt there. `files` cuts the sequences into files, judges each and prints Markdown
 * for files.txt, and `defects` judges broken sources for defects.txt. Everything
 * can be repeated byte by byte.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import {
  minimumBits,
  NIST_PARAMETERS,
  resolveParameters,
  TEST_NAMES,
  type TestName,
} from '../../sp800-22/src/index-node.ts';
import { lowerBound, upperBound } from './clopper-pearson.ts';
import { labelsOf, readClasses, saveClasses } from './second-level/classes.ts';
import { addRow, addSavedRows, countRows, type LengthCounts } from './second-level/counts.ts';
import { BROKEN, judgeDefect } from './second-level/defects.ts';
import { type FileCounts, judgeFiles } from './second-level/files.ts';
import { distanceLines, formatTable } from './second-level/table.ts';

const ROOT = new URL('../../../', import.meta.url);
const COUNTS = new URL('docs/evidence/second-level/counts.json', ROOT);
const TABLE = new URL('packages/sp800-22/src/second-level-table.ts', ROOT);
const RATES = new URL('docs/evidence/rates/', ROOT);

/** Length of the streams of docs/evidence/rates. */
const STREAM_BITS = 2 ** 20;

/** Sequences per file. */
const FILE_SEQUENCES = [55, 100, 1_000, 10_000];

const USAGE = `usage: second-level.ts measure FOLDER BITS SEQUENCES [TEST...]
       second-level.ts count FOLDER
       second-level.ts table
       second-level.ts distances
       second-level.ts files FOLDER
       second-level.ts defects
`;

function lengthsOf(folder: string): number[] {
  return readdirSync(folder)
    .map(Number)
    .sort((a, b) => a - b);
}

/** Returns the shortest sequence to which a test applies. */
function shortest(test: TestName, bits: number): number {
  return minimumBits(test, resolveParameters(bits, NIST_PARAMETERS));
}

function count(folder: string): void {
  const counts: Record<string, LengthCounts> = {};
  for (const bits of lengthsOf(folder)) {
    counts[bits] = {};
    for (const [test, saved] of readClasses(folder, bits)) {
      const sequences = saved.length / labelsOf(test, bits).length;
      const rows = countRows(saved, test, bits, 0, sequences);
      for (const row of rows) addRow(counts[bits], bits, test, row.label, row);
    }
  }
  for (const file of readdirSync(RATES)) {
    const { counts: saved } = JSON.parse(readFileSync(new URL(file, RATES), 'utf8'));
    counts[STREAM_BITS] ??= {};
    addSavedRows(counts[STREAM_BITS], STREAM_BITS, saved.rows);
  }
  writeFileSync(COUNTS, `${JSON.stringify(counts)}\n`);
}

function savedCounts(): Record<string, LengthCounts> {
  return JSON.parse(readFileSync(COUNTS, 'utf8'));
}

function files(folder: string): void {
  const judged = lengthsOf(folder).flatMap((bits) => {
    const saved = readClasses(folder, bits);
    const complete = TEST_NAMES.every((test) => saved.has(test) || bits < shortest(test, bits));
    if (!complete) return [];
    return FILE_SEQUENCES.map((m) => judgeFiles(saved, bits, m)).filter((one) => one.files >= 10);
  });
  print(
    '| Bits | m | Files | FAILED | Rate | 95 % interval | Judged checks | Failed rows | FAILED if taken as uniform |',
  );
  print('|---|---|---|---|---|---|---|---|---|');
  for (const one of judged) print(fileLine(one));
}

function fileLine(counts: FileCounts): string {
  const { bits, m, files, failed, failedUniform, failedRows, checks, possibleChecks } = counts;
  const [low, high] = interval(failed, files);
  const cells = [
    bits.toLocaleString('en'),
    m.toLocaleString('en'),
    files.toLocaleString('en'),
    String(failed),
    percent(failed / files),
    `${percent(low)} to ${percent(high)}`,
    `${checks} of ${possibleChecks}`,
    Object.entries(failedRows)
      .map(([test, rows]) => `${test} ${rows}`)
      .join(', ') || '–',
    percent(failedUniform / files),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Lengths and numbers of sequences at which broken sources are judged. */
const DEFECT_RUNS = [
  [1_000, 55],
  [1_000, 1_000],
  [10_000, 55],
  [10_000, 1_000],
  [100_000, 55],
  [2 ** 20, 55],
  [2 ** 20, 100],
  [2 ** 20, 500],
] as const;

function defects(): void {
  const head = DEFECT_RUNS.map(([n, m]) => `${n.toLocaleString('en')} × ${m.toLocaleString('en')}`);
  print(`| Source | ${head.join(' | ')} |`);
  print(`|---|${DEFECT_RUNS.map(() => '---|').join('')}`);
  for (const [name, make] of Object.entries(BROKEN)) {
    const cells = DEFECT_RUNS.map(([n, m]) => {
      const { rowsFailed, rowsFailedUniform } = judgeDefect(make, n, m);
      return `${rowsFailed} (${rowsFailedUniform})`;
    });
    print(`| ${name} | ${cells.join(' | ')} |`);
  }
}

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
const print = (line: string): boolean => process.stdout.write(`${line}\n`);

/** Returns the Clopper-Pearson interval of k of n: 2.5 % on each side. */
function interval(k: number, n: number): [number, number] {
  return [lowerBound(k, n, 0.025), upperBound(k, n, 0.025)];
}

const [command, folder, bits, sequences, ...tests] = process.argv.slice(2);
const usable = (test: TestName): boolean => shortest(test, Number(bits)) <= Number(bits);
if (command === 'measure' && sequences !== undefined) {
  const only = (tests.length > 0 ? (tests as TestName[]) : TEST_NAMES).filter(usable);
  saveClasses(folder, Number(bits), Number(sequences), only);
} else if (command === 'count' && folder !== undefined) {
  count(folder);
} else if (command === 'table') {
  writeFileSync(TABLE, formatTable(savedCounts()));
} else if (command === 'distances') {
  for (const line of distanceLines(savedCounts())) print(line);
} else if (command === 'files' && folder !== undefined) {
  files(folder);
} else if (command === 'defects') {
  defects();
} else {
  process.stderr.write(USAGE);
  process.exitCode = 2;
}
