/**
 * Compares the estimators of SP 800-90B §6.3 with NIST's program ea_non_iid, value by value, on the files of
 * a folder.
 *
 *   node packages/lab/studies/check-estimators.ts DIR
 *
 * DIR/reference.json maps the name of a file in DIR to `literal`, `bitstring`, `bits_per_symbol_argument`,
 * `H_original`, `H_bitstring` and `Assessed min entropy`. `literal` and `bitstring` map estimators to the values
 * that the program printed, under the program's names. Two inputs are generated if DIR has none: bytes and bits of
 * AES-256-CTR with the key 00 01 … 1f and the counter from zero.
 */
import { createCipheriv } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assessNonIid, type NonIidAssessment } from '../../sp800-90b/src/index.ts';

/** Tolerance of all values; relative for values above 1. */
const TOLERANCE = 1e-10;

/** Our name of each value that NIST's program prints. */
const FIGURES: Readonly<Record<string, string>> = {
  'Mode count': 'modeCount',
  'p-hat': 'pHat',
  p_u: 'pUpper',
  v: 'v',
  'Sum t_i': 'sumT',
  'X-bar': 'mean',
  'sigma-hat': 'sigmaHat',
  "X-bar'": 'meanLower',
  p: 'p',
  P_0: 'p0',
  P_1: 'p1',
  'P_{0,0}': 'p00',
  'P_{0,1}': 'p01',
  'P_{1,0}': 'p10',
  'P_{1,1}': 'p11',
  'p-hat_max': 'pHatMax',
  t: 't',
  u: 'u',
  C: 'correct',
  r: 'r',
  N: 'predictions',
  P_global: 'pGlobal',
  "P_global'": 'pGlobalUpper',
  P_local: 'pLocal',
  'min entropy': 'minEntropy',
};

type Values = Readonly<Record<string, number | readonly string[]>>;

interface Reference {
  readonly bits_per_symbol_argument: string | null;
  readonly literal: Readonly<Record<string, Values>>;
  readonly bitstring: Readonly<Record<string, Values>>;
  readonly H_original: number;
  readonly H_bitstring?: number;
  readonly 'Assessed min entropy': number;
}

class Comparison {
  values = 0;
  different = 0;
  largest = 0;
  largestAt = '';

  add(where: string, expected: number, got: unknown): void {
    this.values++;
    const deviation =
      Math.abs(Number(got ?? Number.NaN) - expected) / Math.max(1, Math.abs(expected));
    if (!(deviation <= TOLERANCE)) {
      this.different++;
      process.stdout.write(`DIFFERENT  ${where}: ${expected} there, ${got} here\n`);
    } else if (deviation > this.largest) {
      this.largest = deviation;
      this.largestAt = where;
    }
  }
}

function compare(name: string, reference: Reference, ours: NonIidAssessment, to: Comparison): void {
  for (const input of ['literal', 'bitstring'] as const) {
    for (const [estimator, values] of Object.entries(reference[input])) {
      const key = estimator === 'lrs' ? 'longest_repeated_substring' : estimator;
      const outcome = { ...ours[input] }[key] as unknown as Record<string, unknown> | undefined;
      for (const [figure, expected] of Object.entries(values)) {
        if (typeof expected !== 'number') continue;
        const where = `${name} ${input} ${estimator} ${figure}`;
        to.add(where, expected, outcome?.[FIGURES[figure] ?? figure]);
      }
    }
  }
  to.add(`${name} H_original`, reference.H_original, ours.hOriginal);
  if (reference.H_bitstring !== undefined) {
    to.add(`${name} H_bitstring`, reference.H_bitstring, ours.hBitstring);
  }
  to.add(`${name} assessed`, reference['Assessed min entropy'], ours.minEntropyPerSymbol);
}

function aesStream(lengthBytes: number): Uint8Array {
  const key = Uint8Array.from({ length: 32 }, (_, i) => i);
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(lengthBytes));
}

function samplesOf(directory: string, name: string): Uint8Array {
  const path = join(directory, name);
  if (existsSync(path)) return readFileSync(path);
  if (name.endsWith('x8bit.bin')) return aesStream(1_000_000);
  const bytes = aesStream(125_000);
  return Uint8Array.from({ length: 1_000_000 }, (_, i) => (bytes[i >> 3] >> (7 - (i & 7))) & 1);
}

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  process.stderr.write('usage: node packages/lab/studies/check-estimators.ts DIR\n');
  process.exit(2);
}
const references = JSON.parse(readFileSync(join(directory, 'reference.json'), 'utf8'));
const comparison = new Comparison();
for (const [name, reference] of Object.entries<Reference>(references)) {
  if (name.startsWith('_')) continue;
  const bits = reference.bits_per_symbol_argument;
  const startMs = performance.now();
  const ours = assessNonIid(
    samplesOf(directory, name),
    bits === null ? {} : { bitsPerSymbol: Number(bits) },
  );
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  process.stdout.write(`${name}: ${ours.minEntropyPerSymbol} bits a symbol, ${seconds} s\n`);
  compare(name, reference, ours, comparison);
}
const { values, different, largest, largestAt } = comparison;
process.stdout.write(
  `${values} values, ${different} different; largest deviation of the others ${largest.toExponential(1)} (${largestAt})\n`,
);
process.exitCode = different === 0 && values > 0 ? 0 : 1;
