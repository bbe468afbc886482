/**
 * T1 to T4 on a sequence of 20,000 bits (KS2011 §2.4.4.1). The bounds are those of FIPS 140-1 §4.11.1. A sound sequence
 * fails each of them with a probability of about 10^-6.
 */
import type { ElementaryTest, Statistics, TestName } from '../result.ts';

/** Length of a sequence for T1 to T5. */
export const SEQUENCE_BITS = 20_000;

type Outcome = Omit<ElementaryTest, 'on'>;

function outcome(name: TestName, statistics: Statistics, limit: string, passed: boolean): Outcome {
  return { name, statistics, limit, passed };
}

/** T1, the monobit test: 9,654 < number of ones < 10,346. */
export function monobit(sequence: Uint8Array): Outcome {
  let ones = 0;
  for (const bit of sequence) ones += bit;
  return outcome('T1', { ones }, '9,654 < ones < 10,346', ones > 9_654 && ones < 10_346);
}

const POKER_WORDS = SEQUENCE_BITS / 4;

/** T2, the poker test: χ² of the 5,000 words of four bits, 1.03 < χ² < 57.4. */
export function poker(sequence: Uint8Array): Outcome {
  const counts = new Array<number>(16).fill(0);
  for (let i = 0; i < SEQUENCE_BITS; i += 4) {
    counts[8 * sequence[i] + 4 * sequence[i + 1] + 2 * sequence[i + 2] + sequence[i + 3]]++;
  }
  const squares = counts.reduce((sum, count) => sum + count * count, 0);
  const chiSquared = (16 / POKER_WORDS) * squares - POKER_WORDS;
  const passed = chiSquared > 1.03 && chiSquared < 57.4;
  return outcome('T2', { chi_squared: chiSquared }, '1.03 < chi squared < 57.4', passed);
}

/** Least and greatest number of runs of 1, 2, 3, 4, 5, and 6 or more equal bits, of zeros as of ones. */
const RUN_BOUNDS: readonly (readonly [least: number, most: number])[] = [
  [2_267, 2_733],
  [1_079, 1_421],
  [502, 748],
  [223, 402],
  [90, 223],
  [90, 223],
];

const RUN_LIMIT = RUN_BOUNDS.map(([least, most]) => `${least} to ${most}`).join(', ');

/** T4 fails at a run of this length. */
const LONG_RUN = 34;

/** T3, the runs test, and T4, the long run test: no run of 34 or more equal bits. */
export function runs(sequence: Uint8Array): readonly [Outcome, Outcome] {
  const counts = [new Array<number>(6).fill(0), new Array<number>(6).fill(0)];
  let longest = 0;
  for (let start = 0; start < SEQUENCE_BITS; ) {
    let end = start + 1;
    while (end < SEQUENCE_BITS && sequence[end] === sequence[start]) end++;
    const length = end - start;
    counts[sequence[start]][Math.min(length, 6) - 1]++;
    longest = Math.max(longest, length);
    start = end;
  }
  const [zeros, ones] = counts;
  const areUsual = counts.flat().every((count, i) => isUsual(count, i % 6));
  const t3 = { runs_of_zeros: zeros, runs_of_ones: ones };
  return [
    outcome('T3', t3, RUN_LIMIT, areUsual),
    outcome('T4', { longest_run: longest }, `longest run < ${LONG_RUN}`, longest < LONG_RUN),
  ];
}

function isUsual(count: number, lengthIndex: number): boolean {
  const [least, most] = RUN_BOUNDS[lengthIndex];
  return count >= least && count <= most;
}
