/** The compression estimate: SP 800-90B §6.3.4, for binary input only. */
import { log2 } from '../../../sp800-22/src/elementary.ts';
import {
  type Estimate,
  minEntropyOf,
  type NotApplicable,
  notApplicable,
  Z_99,
} from './_estimate.ts';

/** Step 1: b, the number of bits in a block. */
const BLOCK_BITS = 6;

const BLOCK_VALUES = 2 ** BLOCK_BITS;

/** Step 2: d, the number of blocks that fill the dictionary and are not scored. */
const DICTIONARY_BLOCKS = 1_000;

/** Step 6: the correction c of the standard deviation for b = 6. */
const CORRECTION = 0.5907;

/** Once (1 − z)^u is below this, the rest of the sums is smaller than the rounding error. */
const NEGLIGIBLE = 1e-30;

interface CompressionEstimate extends Estimate {
  readonly mean: number;
  readonly sigmaHat: number;
  readonly meanLower: number;
  readonly p: number;
}

/** `dictionaryBlocks` is the standard's d. Only the worked example uses another value. */
export function compressionEstimate(
  bits: Uint8Array,
  dictionaryBlocks: number = DICTIONARY_BLOCKS,
): CompressionEstimate | NotApplicable {
  const blocks = Math.floor(bits.length / BLOCK_BITS);
  const scored = blocks - dictionaryBlocks;
  if (scored < 2) {
    return notApplicable(`needs at least ${(dictionaryBlocks + 2) * BLOCK_BITS} bits`);
  }
  const logs = new Float64Array(blocks + 1);
  for (let u = 1; u <= blocks; u++) logs[u] = log2(u);
  // Steps 3 to 6.
  const { sum, sumSquares } = scoreDistances(bits, dictionaryBlocks, logs);
  const mean = sum / scored;
  const sigmaHat = CORRECTION * Math.sqrt(sumSquares / (scored - 1) - mean * mean);
  // Step 7.
  const meanLower = mean - (Z_99 * sigmaHat) / Math.sqrt(scored);
  // Steps 8 and 9.
  const p = solveForP(meanLower, dictionaryBlocks, logs);
  const minEntropy = minEntropyOf(p) / BLOCK_BITS;
  return { applicable: true, mean, sigmaHat, meanLower, p, minEntropy };
}

/**
 * Steps 3 to 5: returns the sums of log2 of the distance of each block from its last occurrence,
 * and of its square. Equal distances are counted first, because p depends on the last digits of the
 * mean where it is near 2^-b.
 */
function scoreDistances(bits: Uint8Array, dictionaryBlocks: number, logs: Float64Array) {
  const blocks = logs.length - 1;
  // Blocks count from 1. A block that has not occurred counts as block 0.
  const lastSeen = new Int32Array(BLOCK_VALUES);
  const counts = new Int32Array(blocks + 1);
  for (let block = 1, at = 0; block <= blocks; block++) {
    let value = 0;
    for (const end = at + BLOCK_BITS; at < end; at++) value = 2 * value + bits[at];
    if (block > dictionaryBlocks) counts[block - lastSeen[value]]++;
    lastSeen[value] = block;
  }
  let sum = 0;
  let sumSquares = 0;
  for (let distance = 1; distance <= blocks; distance++) {
    const part = counts[distance] * logs[distance];
    sum += part;
    sumSquares += part * logs[distance];
  }
  return { sum, sumSquares };
}

/**
 * Step 8: returns the p with mean `meanLower`. The mean falls as p rises. If it starts below, p is
 * 2^-b.
 */
function solveForP(meanLower: number, dictionaryBlocks: number, logs: Float64Array): number {
  const meanOf = (p: number): number =>
    partialMean(p, dictionaryBlocks, logs) +
    (BLOCK_VALUES - 1) * partialMean((1 - p) / (BLOCK_VALUES - 1), dictionaryBlocks, logs);
  let low = 1 / BLOCK_VALUES;
  let high = 1;
  if (meanOf(low) <= meanLower) return low;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) return high;
    if (meanOf(middle) > meanLower) low = middle;
    else high = middle;
  }
}

/**
 * Step 8: returns G(z). Its double sum over t and u is computed in the order of u: with a_u =
 * log2(u)·(1 − z)^(u−1), each u < t adds z²·a_u, and u = t adds z·a_t.
 */
function partialMean(z: number, dictionaryBlocks: number, logs: Float64Array): number {
  const blocks = logs.length - 1;
  const scored = blocks - dictionaryBlocks;
  let power = 1;
  let earlier = 0;
  let current = 0;
  for (let u = 1; u <= blocks && power > NEGLIGIBLE; u++) {
    const a = logs[u] * power;
    earlier += a * Math.min(scored, blocks - u);
    if (u > dictionaryBlocks) current += a;
    power *= 1 - z;
  }
  return (z * (z * earlier + current)) / scored;
}
