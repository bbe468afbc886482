/**
 * Distribution of byte values: χ² with 255 degrees of freedom. A supplement: not part of SP 800-22.
 *
 * Are all 256 values of consecutive bytes, from the first bit on, equally frequent?
 */
import type { SupplementDefinition } from '../definition.ts';
import { assertLengthBits, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';

const VALUES = 256;

/** Each value is expected at least five times, the usual condition of the χ² law. */
const MINIMUM_BITS = 5 * VALUES * 8;

export const byteDistributionSupplement: SupplementDefinition = {
  minimumBits: MINIMUM_BITS,
  run: byteDistribution,
  count: (counts) => judgeByteDistribution(counts.byteCounts()),
};

function byteDistribution(bits: Uint8Array): TestResult {
  assertLengthBits(bits, MINIMUM_BITS);
  const counts = new Uint32Array(VALUES);
  for (let i = 0; i + 8 <= bits.length; i += 8) {
    let value = 0;
    for (let j = i; j < i + 8; j++) value = (value << 1) | bits[j];
    counts[value]++;
  }
  return judgeByteDistribution(counts);
}

/** Computes the result from the counts of the values, in any order. */
function judgeByteDistribution(counts: Uint32Array): TestResult {
  let bytes = 0;
  let squares = 0;
  for (const count of counts) {
    bytes += count;
    squares += count * count;
  }
  // Σ (c − E)² / E with E = bytes / 256.
  const chi2 = (VALUES * squares) / bytes - bytes;
  return { pValues: [igamc((VALUES - 1) / 2, Math.max(0, chi2) / 2)], statistics: { bytes, chi2 } };
}
