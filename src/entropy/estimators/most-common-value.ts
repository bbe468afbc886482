/**
 * The most common value estimate: NIST SP 800-90B, Recommendation for the Entropy Sources Used for
 * Random Bit Generation, §6.3.1, on bits. https://doi.org/10.6028/NIST.SP.800-90B
 */
import { popcount32 } from '../../bytes.ts';

// §6.3.1 step 2: Z_(1−0.005), for the upper end of a 99 % confidence interval. NIST's text rounds
// it to 2.576; its program uses these digits, and so do we.
const Z_99 = 2.5758293035489008;

/**
 * Min-entropy per bit, 0…1, of a sequence of `lengthBits` ≥ 2 bits with `ones` ones.
 * Throws `RangeError` when the counts cannot belong together.
 */
export function mostCommonValueMinEntropy(ones: number, lengthBits: number): number {
  if (!Number.isInteger(lengthBits) || lengthBits < 2) {
    throw new RangeError(`"lengthBits" expected an integer of at least 2, got ${lengthBits}`);
  }
  if (!Number.isInteger(ones) || ones < 0 || ones > lengthBits) {
    throw new RangeError(`"ones" expected an integer from 0 to ${lengthBits}, got ${ones}`);
  }
  // Step 1: the proportion of the most common value.
  const pHat = Math.max(ones, lengthBits - ones) / lengthBits;
  // Step 2.
  const pUpper = Math.min(1, pHat + Z_99 * Math.sqrt((pHat * (1 - pHat)) / (lengthBits - 1)));
  // Step 3; 0 − x, because −log2(1) is −0.
  return 0 - Math.log2(pUpper);
}

/** The number of one bits in `bytes`. */
export function countOnes(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wholeWordsBytes = bytes.length - (bytes.length % 4);
  let ones = 0;
  for (let i = 0; i < wholeWordsBytes; i += 4) ones += popcount32(view.getUint32(i));
  for (let i = wholeWordsBytes; i < bytes.length; i++) ones += popcount32(bytes[i]);
  return ones;
}
