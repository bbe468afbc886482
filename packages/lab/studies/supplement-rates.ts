/**
 * Measures the p-values of the supplements on sound sequences: counts per class, and below 0.01, 0.001 and 0.0001.
 *
 *     node packages/lab/studies/supplement-rates.ts BITS SEQUENCES [first seed]
 *
 * The sequences are AES-256 in counter mode under the keys 1, 2, 3, … (the last four bytes hold the length in bits), so all figures
 * are the same in every run. docs/evidence/supplements.txt has the results.
 */
import { createCipheriv } from 'node:crypto';
import { binomialTwoSided } from '../../sp800-22/src/binomial.ts';
import {
  igamc,
  runPackedSuite,
  SUPPLEMENT_NAMES,
  type SupplementName,
  supplementMinimumBits,
} from '../../sp800-22/src/index-node.ts';

const CLASSES = 10;
const LEVELS = [1e-2, 1e-3, 1e-4];

const [bits, sequences, first = 1] = process.argv.slice(2).map(Number);
if (!(bits > 0 && sequences > 0)) throw new RangeError('"BITS SEQUENCES" expected two numbers');

interface Counts {
  readonly histogram: number[];
  readonly below: number[];
}

function soundSequence(seed: number): Buffer {
  const key = Buffer.alloc(32);
  key.writeUInt32BE(seed);
  key.writeUInt32BE(bits, 28);
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(
    Buffer.alloc(Math.ceil(bits / 8)),
  );
}

function measure(names: readonly SupplementName[]): Map<SupplementName, Counts> {
  const counts = new Map(
    names.map((name) => [name, { histogram: Array(CLASSES).fill(0), below: LEVELS.map(() => 0) }]),
  );
  for (let seed = first; seed < first + sequences; seed++) {
    const options = { bits, only: [], supplements: names };
    for (const outcome of runPackedSuite(soundSequence(seed), options).supplements ?? []) {
      const of = counts.get(outcome.name) as Counts;
      const [p] = outcome.applicable ? outcome.pValues : [1];
      of.histogram[Math.min(CLASSES - 1, Math.floor(p * CLASSES))]++;
      for (const [i, level] of LEVELS.entries()) if (p < level) of.below[i]++;
    }
  }
  return counts;
}

/** Returns P-value_T of SP 800-22 §4.2.2. */
function uniformity(histogram: readonly number[]): number {
  const expected = sequences / CLASSES;
  const chi2 = histogram.reduce((sum, F) => sum + (F - expected) ** 2 / expected, 0);
  return igamc((CLASSES - 1) / 2, chi2 / 2);
}

const names = SUPPLEMENT_NAMES.filter((name) => supplementMinimumBits(name) <= bits);
process.stdout.write(`${sequences} sequences of ${bits} bits\n`);
for (const [name, { histogram, below }] of measure(names)) {
  const levels = LEVELS.map(
    (level, i) =>
      `${below[i]} below ${level} (p ${binomialTwoSided(below[i], sequences, level).toFixed(3)})`,
  );
  process.stdout.write(
    `${name.padEnd(18)} ${histogram.join(' ')}  P-value_T ${uniformity(histogram).toFixed(4)}; ${levels.join(', ')}\n`,
  );
}
