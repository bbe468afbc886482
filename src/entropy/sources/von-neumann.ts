/**
 * Von Neumann's extractor: J. von Neumann, "Various techniques used in connection with random
 * digits", National Bureau of Standards Applied Mathematics Series 12 (1951), pp. 36–38.
 *
 * In two tosses of one coin, 01 and 10 are equally probable whatever the bias, as long as the
 * tosses are independent and the bias is constant. Equal pairs are dropped: n tosses of an even
 * coin give n/4 bits.
 */
import { wipe } from '../../bytes.ts';

/**
 * Pairs successive bits of `samples`, one bit per byte: 01 gives 0, 10 gives 1, and 00 and 11 give
 * nothing. The result is packed, eight bits per byte, most significant first; an incomplete byte is
 * dropped. Throws `RangeError` if a sample is not a bit.
 */
export function extractVonNeumann(samples: Uint8Array): Uint8Array {
  const room = new Uint8Array(new ArrayBuffer(samples.length >>> 4));
  let bits = 0;
  for (let i = 0; i + 1 < samples.length; i += 2) {
    if ((samples[i] | samples[i + 1]) > 1) {
      throw new RangeError('"samples" expected one bit per byte, got a larger value');
    }
    if (samples[i] === samples[i + 1]) continue;
    const at = bits >>> 3;
    if (at < room.length) room[at] |= samples[i] << (7 - (bits & 7));
    bits += 1;
  }
  const lengthBytes = bits >>> 3;
  wipe(room.subarray(lengthBytes));
  return room.subarray(0, lengthBytes);
}
