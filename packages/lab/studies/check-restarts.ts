/**
 * Compares the restart tests of SP 800-90B §3.1.4 with NIST's program ea_restart.
 *
 *   node packages/lab/studies/check-restarts.ts EA_RESTART FOLDER CASE…
 *
 * EA_RESTART is the program, built from https://github.com/usnistgov/SP800-90B_EntropyAssessment, and FOLDER has the
 * files of `packages/lab/studies/noise-files.ts`. A case is `FILE:H_I` (such as `biased-4:2.1`), or `FILE:H_I:iid` for the IID track.
 * The output is a row of docs/evidence/sp800-90b/restarts.txt for each case.
 *
 * The program ends at the first check that fails, so it prints no H_r and H_c then. It simulates the cutoff, which may
 * differ by one, and each verdict of its permutations is random. Its permutation tests run on the rows twice, so their
 * statistics are compared with those of the rows.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  assessIidRestarts,
  assessRestarts,
  type IidRestartAssessment,
  type IidTests,
  STATISTIC_NAMES,
} from '../../sp800-90b/src/index.ts';

/** Half a unit of the last digit that the program prints, and a little. */
const TOLERANCE = 5.1e-7;

/** Tolerance of the figures of §5, which the program prints in full; relative for values above 1. */
const TEST_TOLERANCE = 1e-10;

const SEED = '5eed';

/** The figures of the tests of §5. Each is printed twice: for the rows, and for the columns. */
const PRINTED: readonly RegExp[] = [
  /^Chi square independence: T = (\S+)$/gm,
  /^Chi square independence: df = (\S+)$/gm,
  /^Chi square independence: P-value = (\S+)$/gm,
  /^Chi square goodness of fit: T = (\S+)$/gm,
  /^Chi square goodness of fit: df = (\S+)$/gm,
  /^Chi square goodness of fit: P-value = (\S+)$/gm,
  /Substring results: P_col = (\S+)$/gm,
  /Substring results: W = (\S+)$/gm,
  /Substring results: Pr\(X >= 1\) = (\S+)$/gm,
  /^Permutation testing: Unpermuted result \S+ = (\S+)$/gm,
];

interface Figures {
  readonly cutoff: number;
  readonly maxCount: number;
  readonly rows: number | null;
  readonly columns: number | null;
  /** Null here, not there, after a failed test of §5. */
  readonly award: number | null;
  /** Results of the tests of §5 that the program runs; `null` on the other track. */
  readonly iidPassed: boolean | null;
  /** Result of the permutation tests of the columns, which the program does not run. */
  readonly columnsPassed: boolean | null;
  /** In the order of `PRINTED`; empty on the other track, and there after a failed sanity check. */
  readonly tests: readonly number[];
}

function printedBy(program: string, words: readonly string[]): Figures {
  const { stdout } = spawnSync(program, words, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  const figure = (pattern: RegExp): number | null => {
    const match = pattern.exec(stdout);
    return match === null ? null : Number(match[1]);
  };
  const results = [...stdout.matchAll(/ tests?: (Passed|Failed)$/gm)].map(([, word]) => word);
  return {
    cutoff: figure(/X_cutoff: (\d+)/) ?? Number.NaN,
    maxCount: figure(/X_max: (\d+)/) ?? Number.NaN,
    rows: figure(/^H_r: (\S+)$/m),
    columns: figure(/^H_c: (\S+)$/m),
    award: figure(/^min\(H_r, H_c, H_I\): (\S+)$/m) ?? 0,
    iidPassed: results.length === 0 ? null : !results.includes('Failed'),
    columnsPassed: null,
    tests: PRINTED.flatMap((pattern) => [...stdout.matchAll(pattern)].map(([, n]) => Number(n))),
  };
}

function hasFixedTestsPassed({ independence, goodnessOfFit, longestRepeat }: IidTests): boolean {
  return [independence, goodnessOfFit, longestRepeat].every(({ passed }) => passed);
}

function testFigures({ rowTests, columnTests }: IidRestartAssessment): number[] {
  const pair = (figure: (tests: IidTests) => number): number[] =>
    [rowTests, columnTests].map(figure);
  const { statistics } = rowTests.permutation;
  const permuted = STATISTIC_NAMES.map((name) => statistics[name].statistic);
  return [
    ...(['independence', 'goodnessOfFit'] as const).flatMap((test) => [
      ...pair((tests) => tests[test].statistic),
      ...pair((tests) => tests[test].degreesOfFreedom),
      ...pair((tests) => tests[test].pValue),
    ]),
    ...pair(({ longestRepeat }) => longestRepeat.pCollision),
    ...pair(({ longestRepeat }) => longestRepeat.length),
    ...pair(({ longestRepeat }) => longestRepeat.probability),
    ...permuted,
    ...permuted,
  ];
}

async function oursOf(matrix: Uint8Array, hInitial: number, isIid: boolean): Promise<Figures> {
  const options = { initialMinEntropy: hInitial };
  const iid = isIid ? await assessIidRestarts(matrix, { ...options, seed: SEED }) : null;
  const award = iid ?? assessRestarts(matrix, options);
  return {
    cutoff: award.sanityCheck.cutoff,
    maxCount: award.sanityCheck.maxCount,
    rows: award.hRows,
    columns: award.hColumns,
    award: award.minEntropyPerSymbol,
    iidPassed: iid === null ? null : iid.rowTests.passed && hasFixedTestsPassed(iid.columnTests),
    columnsPassed: iid?.columnTests.permutation.passed ?? null,
    tests: iid === null ? [] : testFigures(iid),
  };
}

/** Names the figures that differ; the cutoff only if it differs by more than the simulation explains. */
function differences(theirs: Figures, ours: Figures): string[] {
  const isFar = (a: number | null, b: number | null): boolean =>
    a !== null && b !== null && !(Math.abs(a - b) <= TOLERANCE);
  const names: string[] = [];
  if (!(Math.abs(theirs.cutoff - ours.cutoff) <= 1)) names.push('cutoff');
  for (const name of ['maxCount', 'rows', 'columns', 'award'] as const) {
    if (isFar(theirs[name], ours[name])) names.push(name);
  }
  if (theirs.iidPassed !== null && theirs.iidPassed !== ours.iidPassed) names.push('IID tests');
  const different = differentTests(theirs, ours);
  if (different !== 0) names.push(`${different} figures of §5`);
  return names;
}

/** Counts the figures of §5 that differ. Without any there, as after a failed sanity check, there is nothing to compare. */
function differentTests({ tests: theirs }: Figures, { tests: ours }: Figures): number {
  if (theirs.length === 0) return 0;
  if (theirs.length !== ours.length) return Number.NaN;
  const isFar = (a: number, b: number): boolean =>
    !(Math.abs(a - b) <= TEST_TOLERANCE * Math.max(1, Math.abs(a)));
  return theirs.filter((figure, i) => isFar(figure, ours[i])).length;
}

function row(name: string, theirs: Figures, ours: Figures): string {
  const pair = (a: number | null, b: number | null, digits: number): string =>
    `${a === null ? '-' : a.toFixed(digits)} / ${b === null ? '-' : b.toFixed(digits)}`;
  const different = differences(theirs, ours);
  const cells = [
    name.padEnd(34),
    pair(theirs.maxCount, ours.maxCount, 0).padEnd(13),
    pair(theirs.cutoff, ours.cutoff, 0).padEnd(13),
    pair(theirs.rows, ours.rows, 6).padEnd(21),
    pair(theirs.columns, ours.columns, 6).padEnd(21),
    pair(theirs.award, ours.award, 6).padEnd(21),
    ours.iidPassed === null ? '' : iidCell(theirs, ours),
    different.length === 0 ? 'agree' : `DIFFERENT: ${different.join(', ')}`,
  ];
  return `${cells.join('')}\n`;
}

function iidCell(theirs: Figures, ours: Figures): string {
  const word = (passed: boolean | null): string =>
    passed === null ? '-' : passed ? 'passed' : 'FAILED';
  const equal = theirs.tests.length - differentTests(theirs, ours);
  const figures = `${equal} of ${theirs.tests.length} figures of section 5 equal`;
  const columns = `permutations of columns - / ${word(ours.columnsPassed)}`;
  return `IID ${word(theirs.iidPassed)} / ${word(ours.iidPassed)}, ${columns}, ${figures}, `;
}

const [program, folder, ...cases] = process.argv.slice(2);
if (program === undefined || folder === undefined || cases.length === 0) {
  process.stderr.write(
    'usage: node packages/lab/studies/check-restarts.ts EA_RESTART FOLDER FILE:H_I[:iid]…\n',
  );
  process.exit(2);
}
process.stdout.write(
  `${'file, H_I'.padEnd(34)}${'X_max'.padEnd(13)}${'X_cutoff'.padEnd(13)}${'H_r'.padEnd(21)}${'H_c'.padEnd(21)}award\n`,
);
for (const text of cases) {
  const [name, hInitial, track] = text.split(':');
  const file = join(folder, `${name}.bin`);
  const isIid = track === 'iid';
  const theirs = printedBy(program, [...(isIid ? ['-i', '-vv'] : ['-n']), file, hInitial]);
  const ours = await oursOf(readFileSync(file), Number(hInitial), isIid);
  process.stdout.write(row(text.replaceAll(':', ', '), theirs, ours));
}
