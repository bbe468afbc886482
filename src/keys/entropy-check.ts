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
import { timingSafeEqual } from 'node:crypto';
import { countOnes, popcount32 } from '../bytes.ts';

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
  const blocks: Uint8Array[] = [];
  for (let at = 0; at + BLOCK_BYTES <= carrier.length; at += BLOCK_STEP_BYTES) {
    blocks.push(carrier.subarray(at, at + BLOCK_BYTES));
  }
  return blocks.some((one, i) => blocks.slice(i + 1).some((other) => timingSafeEqual(one, other)));
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
export interface EntropyCheck {
  readonly passed: boolean;
  readonly statistics: readonly EntropyStatistic[];
}

/** The largest count that fails, by number of trials. */
const LOWER_CUTOFFS: ReadonlyMap<number, number> = new Map(
  KEY_LENGTHS_BITS.flatMap((n) => [0, ...DISTANCES_BITS].map((d) => n - d)).map((trials) => [
    trials,
    lowerCutoff(trials),
  ]),
);

/** Checks a key of 16, 32 or 48 bytes; throws `TypeError` for any other. */
export function entropyCheck(key: Uint8Array): EntropyCheck {
  if (!(key instanceof Uint8Array) || !KEY_LENGTHS_BITS.includes(key.length * 8)) {
    const got = key instanceof Uint8Array ? `length=${key.length}` : typeof key;
    throw new TypeError(`"key" expected Uint8Array of length 16, 32 or 48, got ${got}`);
  }
  const lengthBits = key.length * 8;
  const statistics = [0, ...DISTANCES_BITS].map((d, i) =>
    judge(KEY_TESTS[i], lengthBits - d, d === 0 ? countOnes(key) : disagreements(key, d)),
  );
  return { passed: statistics.every(({ passed }) => passed), statistics };
}

function judge(name: string, trials: number, observed: number): EntropyStatistic {
  const cutoff = LOWER_CUTOFFS.get(trials);
  if (cutoff === undefined) throw new RangeError(`"trials" has no cutoff for ${trials}`);
  const lowest = cutoff + 1;
  // The distribution is symmetric about trials / 2.
  const highest = trials - lowest;
  const passed = observed >= lowest && observed <= highest;
  return { name, trials, observed, lowest, highest, passed };
}

/** Counts the bits i that differ from bit i + d. Bit 0 is the top bit of the first byte. */
function disagreements(key: Uint8Array, distanceBits: number): number {
  return distanceBits === 1
    ? neighbourDisagreements(key)
    : byteDisagreements(key, distanceBits / 8);
}

function neighbourDisagreements(key: Uint8Array): number {
  // The last byte has seven pairs; every other byte has an eighth, with the next byte's top bit.
  let count = popcount32((key[key.length - 1] ^ (key[key.length - 1] >>> 1)) & 0x7f);
  for (let i = 0; i + 1 < key.length; i++) {
    const shifted = (key[i] << 1) | (key[i + 1] >>> 7);
    count += popcount32((key[i] ^ shifted) & 0xff);
  }
  return count;
}

function byteDisagreements(key: Uint8Array, distanceBytes: number): number {
  let count = 0;
  for (let i = 0; i + distanceBytes < key.length; i++) {
    count += popcount32(key[i] ^ key[i + distanceBytes]);
  }
  return count;
}

/** Returns the largest c with P(X ≤ c) ≤ 2^-54 for X ~ Binomial(trials, ½), computed exactly. */
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
