/**
 * The digest that an answer must fit. The thread that generates a key computes it with the commitments, and the main
 * thread computes it again from the text of the answer. So a key that was altered, or that was swapped with another one on
 * its way, does not leave the process.
 *
 *   digest = first 16 bytes of SHA-256(key length ‖ opening length ‖ accepted ‖ key ‖ opening ‖ key ID ‖ 0 ‖ proof)
 *
 * `accepted` is the time in the order, a double, which is the request's own. The digest never leaves the process. It needs
 * no key: the text of the answer, which is beside it in memory, has the key itself.
 */
import { hash } from 'node:crypto';
import { newBytes } from '../bytes.ts';
import type { KeyOrder, ReleasedKey } from './order.ts';

export const ANSWER_DIGEST_BYTES = 16;

/** What the digest covers of a key. */
export type AnsweredKey = Pick<ReleasedKey, 'key' | 'keyId' | 'hashProof' | 'opening'>;

/** Lengths and time, the longest key, an opening, and the texts. */
const TEXT_LENGTH = 256;
const scratch: Buffer = newBytes(2 + 8 + 48 + 32 + TEXT_LENGTH);

/** Returns the digest of a key in the answer to an order, 16 bytes. Throws `RangeError` if a text is too long. */
export function answerDigest(
  { key, keyId, hashProof, opening }: AnsweredKey,
  { acceptedMs }: Pick<KeyOrder, 'acceptedMs'>,
): Buffer {
  if (keyId.length + 1 + hashProof.length > TEXT_LENGTH) {
    throw new RangeError(`key ID and proof expected at most ${TEXT_LENGTH} characters`);
  }
  const digest = Buffer.alloc(ANSWER_DIGEST_BYTES);
  let end = 10;
  try {
    scratch[0] = key.length;
    scratch[1] = opening?.length ?? 0;
    scratch.writeDoubleBE(acceptedMs, 2);
    scratch.set(key, end);
    end += key.length;
    if (opening) {
      scratch.set(opening, end);
      end += opening.length;
    }
    const textEnd = end + scratch.write(`${keyId}\0${hashProof}`, end, 'latin1');
    const whole = hash('sha256', scratch.subarray(0, textEnd), 'binary');
    // The rest of the text is dropped: `write` ends with the buffer.
    digest.write(whole, 'latin1');
    return digest;
  } finally {
    scratch.fill(0, 0, end);
  }
}
