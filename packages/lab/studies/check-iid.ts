/**
 * Compares the IID track with NIST's program ea_iid, value by value and verdict by verdict.
 *
 *   node packages/lab/studies/check-iid.ts EA_IID FILE…
 *
 * EA_IID is the program, built from https://github.com/usnistgov/SP800-90B_EntropyAssessment; a file holds one
 * sample per byte. Each verdict on the permutations is random: a statistic near the limit may pass here and fail
 * there. With `--json` it writes what the program printed, in our names, as in test/vectors/sp800-90b/ea-iid.json.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { assessIid, STATISTIC_NAMES } from '../../sp800-90b/src/index.ts';
import { type Figures, figuresOf } from './iid-figures.ts';

/** Tolerance of all values; relative for values above 1. */
const TOLERANCE = 1e-10;

const SEED = '5eed';

/** The values that the program prints, in the order of ours. */
const PRINTED: Readonly<Record<string, RegExp>> = {
  mean: /^Raw Mean = (\S+)$/m,
  hOriginal: /^H_original = (\S+)$/m,
  hBitstring: /^H_bitstring = (\S+)$/m,
  independence: /^Chi square independence: T = (\S+)$/m,
  independenceDegrees: /^Chi square independence: df = (\S+)$/m,
  independenceP: /^Chi square independence: P-value = (\S+)$/m,
  fit: /^Chi square goodness of fit: T = (\S+)$/m,
  fitDegrees: /^Chi square goodness of fit: df = (\S+)$/m,
  fitP: /^Chi square goodness of fit: P-value = (\S+)$/m,
  pCollision: /Substring results: P_col = (\S+)$/m,
  repeatLength: /Substring results: W = (\S+)$/m,
  repeatP: /Substring results: Pr\(X >= 1\) = (\S+)$/m,
};

const VERDICTS: Readonly<Record<string, RegExp>> = {
  chiSquarePassed: /^Chi square tests: (\w+)$/m,
  repeatPassed: /^Length of longest repeated substring test: (\w+)$/m,
  permutationPassed: /^IID permutation tests: (\w+)$/m,
};

function printedBy(program: string, file: string): Figures {
  const text = execFileSync(program, ['-vvv', file], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  const figures: Figures = {};
  for (const [name, pattern] of Object.entries(PRINTED)) {
    const value = pattern.exec(text)?.[1];
    if (value !== undefined) figures[name] = Number(value);
  }
  const statistics = [...text.matchAll(/Unpermuted result \S+ = (\S+)$/gm)];
  STATISTIC_NAMES.forEach((name, i) => {
    figures[name] = Number(statistics[i][1]);
  });
  for (const [name, pattern] of Object.entries(VERDICTS)) {
    figures[name] = pattern.exec(text)?.[1] === 'Passed';
  }
  return figures;
}

function isEqual(ours: number | boolean | undefined, theirs: number | boolean): boolean {
  if (typeof theirs === 'boolean' || typeof ours !== 'number') return ours === theirs;
  return Math.abs(ours - theirs) <= TOLERANCE * Math.max(1, Math.abs(theirs));
}

async function compare(program: string, file: string): Promise<number> {
  const theirs = printedBy(program, file);
  const ours = figuresOf(await assessIid(readFileSync(file), { seed: SEED }));
  const names = Object.keys(theirs);
  const different = names.filter((name) => !isEqual(ours[name], theirs[name]));
  for (const name of different) {
    process.stdout.write(`DIFFERENT  ${file} ${name}: ${theirs[name]} there, ${ours[name]} here\n`);
  }
  process.stdout.write(`${file}: ${names.length} values, ${different.length} different\n`);
  return different.length;
}

const [program, ...files] = process.argv.slice(2).filter((argument) => argument !== '--json');
if (program === undefined || files.length === 0) {
  process.stderr.write('usage: node packages/lab/studies/check-iid.ts EA_IID FILE… [--json]\n');
  process.exit(2);
}
if (process.argv.includes('--json')) {
  const entries = files.map((file) => [basename(file, '.bin'), printedBy(program, file)]);
  process.stdout.write(`${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
} else {
  let different = 0;
  for (const file of files) different += await compare(program, file);
  process.exitCode = different === 0 ? 0 : 1;
}
