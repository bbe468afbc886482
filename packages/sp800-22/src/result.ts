/**
 * The result of one statistical test, and the checks of its parameters.
 *
 * A test is a pure function `(bits, parameters) → TestResult`. `bits` holds one bit (0 or 1) per
 * element.
 */
import { assertUint8Array } from './arguments.ts';
import { square } from './elementary.ts';

export { assertInteger } from './arguments.ts';

/** Counts, χ² and other intermediate figures of one test, as JSON. */
export type Statistics = Record<string, number | readonly number[] | boolean>;

export interface TestResult {
  /** In the order of the NIST program; each within [0, 1]. */
  readonly pValues: readonly number[];
  readonly statistics: Statistics;
}

/** Throws `TypeError` unless `bits` is a `Uint8Array` of 0 and 1, and `RangeError` unless it has at least `minimum` elements. */
export function assertLengthBits(bits: Uint8Array, minimum: number): void {
  assertBits(bits);
  if (bits.length < minimum) {
    throw new RangeError(`"bits" expected at least ${minimum} elements, got length=${bits.length}`);
  }
}

/** Throws `TypeError` unless `bits` is a `Uint8Array` of 0 and 1. */
export function assertBits(bits: Uint8Array): void {
  assertUint8Array('bits', bits, ' of 0 and 1');
  let union = 0;
  for (let i = 0; i < bits.length; i++) union |= bits[i];
  if (union <= 1) return;
  const index = bits.findIndex((bit) => bit > 1);
  throw new TypeError(
    `"bits" expected Uint8Array of 0 and 1, got ${bits[index]} at index ${index}`,
  );
}

/** Returns χ² of the class counts `nu` against the class probabilities `pi`, over `total` trials. */
export function chiSquared(nu: ArrayLike<number>, pi: ArrayLike<number>, total: number): number {
  let chi2 = 0;
  for (let i = 0; i < nu.length; i++) {
    const expected = total * pi[i];
    chi2 += square(nu[i] - expected) / expected;
  }
  return chi2;
}
