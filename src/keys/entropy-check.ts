/**
 * The exact tests that every key passes before release, and again when it is validated.
 *
 * For a uniform key of n bits, six counts are exactly binomial with p = ½: the number of ones,
 * Binomial(n, ½), and the disagreements between bits i and i + d for five distances d,
 * Binomial(n − d, ½). Each test is two-sided at 2^-53, so a sound key fails with a probability below
 * 6 · 2^-53 < 2^-50. The limits are this strict because a failure latches the process. The tests find
 * gross faults: constant, alternating, or repeating with a period that divides a distance. They say
 * nothing about how the key was generated.
 */
import { popcount32 } from '../bytes.ts';

/**
 * Each tail of each test holds at most 2^-54. At distance 64, a 128-bit key has 64 pairs: at 2^-58 the
 * test would refuse only equal or complementary halves, and at 2^-65 it would refuse nothing.
 */
const TAIL_BITS = 54;
const DISTANCES_BITS: readonly number[] = [1, 8, 16, 32, 64];
const KEY_LENGTHS_BITS: readonly number[] = [128, 256, 384];

/** The names of the six tests. */
export const KEY_TESTS: readonly string[] = [
  'ones',
  ...DISTANCES_BITS.map((d) => `disagreements-${d}`),
];

/** Name of the test for repeated blocks. */
export const REPEATED_BLOCK = 'repeated-block';

const BLOCK_BYTES = 16;

/** Blocks begin at multiples of this: a half of 24 bytes holds one and a half blocks. */
const BLOCK_STEP_BYTES = 8;

/**
 * Reports whether a block of 16 bytes occurs twice in a carrier. AES in counter mode repeats no block, and across a
 * reseed chance repeats one with a probability below 2^-124. A counter that stands still repeats every block.
 */
export function repeatsBlock(carrier: Uint8Array): boolean {
  const words = wordsOf(carrier);
  const lastBlock = carrier.length - BLOCK_BYTES;
  let repeats = false;
  for (let one = 0; one < lastBlock; one += BLOCK_STEP_BYTES) {
    for (let other = one + BLOCK_STEP_BYTES; other <= lastBlock; other += BLOCK_STEP_BYTES) {
      // Reads both blocks to the end, and no byte decides about the time.
      let differences = 0;
      for (let i = 0; i < BLOCK_BYTES; i += 4) {
        differences |= words.getInt32(one + i) ^ words.getInt32(other + i);
      }
      repeats ||= differences === 0;
    }
  }
  return repeats;
}

/** One count and the range in which it passes. */
export interface EntropyStatistic {
  readonly name: string;
  readonly trials: number;
  readonly observed: number;
  /** The statistic passes from `lowest` to `highest`, both included. */
  readonly lowest: number;
  readonly highest: number;
  readonly passed: boolean;
}

/** Result of the six tests. The statistics depend on the key: they MUST NOT be logged or stored. */
interface EntropyCheck {
  readonly passed: boolean;
  readonly statistics: readonly EntropyStatistic[];
}

/** The distances of the six tests: the number of ones counts the bits themselves. */
const TESTED_BITS: readonly number[] = [0, ...DISTANCES_BITS];

/** The lowest counts that pass each test, by length of the key in bits. */
const LOWEST: ReadonlyMap<number, readonly number[]> = new Map(
  KEY_LENGTHS_BITS.map((n) => [n, TESTED_BITS.map((d) => lowerCutoff(n - d) + 1)]),
);

/** Checks a key of 16, 32 or 48 bytes; throws `TypeError` for any other. */
export function entropyCheck(key: Uint8Array): EntropyCheck {
  const lowest = lowestOf(key);
  const words = wordsOf(key);
  const statistics = TESTED_BITS.map((d, i) =>
    judge(KEY_TESTS[i], key.length * 8 - d, lowest[i], count(words, d)),
  );
  return { passed: statistics.every(({ passed }) => passed), statistics };
}

/**
 * Returns the name of the first test that a key fails, as `entropyCheck` does, without its report: every key and its
 * carrier are tested (bench/key-path.ts). Throws like it.
 */
export function failedKeyTest(key: Uint8Array): string | undefined {
  const lowest = lowestOf(key);
  const words = wordsOf(key);
  let failed: string | undefined;
  for (let i = 0; i < TESTED_BITS.length; i++) {
    const observed = count(words, TESTED_BITS[i]);
    const highest = key.length * 8 - TESTED_BITS[i] - lowest[i];
    if (observed < lowest[i] || observed > highest) failed ??= KEY_TESTS[i];
  }
  return failed;
}

function lowestOf(key: Uint8Array): readonly number[] {
  const lowest = key instanceof Uint8Array ? LOWEST.get(key.length * 8) : undefined;
  if (lowest) return lowest;
  const got = key instanceof Uint8Array ? `length=${key.length}` : typeof key;
  throw new TypeError(`"key" expected Uint8Array of length 16, 32 or 48, got ${got}`);
}

function wordsOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function judge(name: string, trials: number, lowest: number, observed: number): EntropyStatistic {
  // The distribution is symmetric about trials / 2.
  const highest = trials - lowest;
  const passed = observed >= lowest && observed <= highest;
  return { name, trials, observed, lowest, highest, passed };
}

/**
 * Counts the bits i that differ from bit i + d, or, for d = 0, the bits that are one. Bit 0 is the top bit of the first
 * byte. The key is read in words of 32 bits.
 */
function count(words: DataView, d: number): number {
  const { byteLength } = words;
  // Bit i of `shifted` is bit i + d of the key. Past the end of the key it reads zeros, which no test counts.
  const skippedBytes = (d >>> 5) * 4;
  const shift = d & 31;
  let counted = 0;
  for (let at = 0; at + skippedBytes < byteLength; at += 4) {
    const from = at + skippedBytes;
    const rest = from + 4 < byteLength ? words.getInt32(from + 4) : 0;
    const shifted =
      shift === 0
        ? words.getInt32(from)
        : (words.getInt32(from) << shift) | (rest >>> (32 - shift));
    const word = d === 0 ? shifted : words.getInt32(at) ^ shifted;
    const isLast = from + 4 === byteLength;
    counted += popcount32(isLast ? word & (-1 << shift) : word);
  }
  return counted;
}

/** Returns the largest count that fails: the largest c with P(X ≤ c) ≤ 2^-54 for X ~ Binomial(trials, ½), computed exactly. */
function lowerCutoff(trials: number): number {
  const limit = 1n << BigInt(trials - TAIL_BITS);
  let choose = 1n;
  let sum = 1n;
  let k = 0;
  // Invariant: choose = C(trials, k), sum = Σ_{j ≤ k} C(trials, j).
  while (sum <= limit) {
    k += 1;
    choose = (choose * BigInt(trials - k + 1)) / BigInt(k);
    sum += choose;
  }
  return k - 1;
}
