/**
 * The continuous random number generator test of FIPS 140-2 §4.9.2: two successive draws MUST
 * differ.
 *
 * It is for sources that deliver conditioned output, to which the tests of NIST SP 800-90B §4.4 do
 * not apply: those are for raw samples (`packages/sp800-90b`). For honest draws of 256 bits of entropy
 * it fails with probability 2^-256 a draw.
 */
import { hash, timingSafeEqual } from 'node:crypto';

/** Compares each draw with the one before it. Its verdict is permanent. */
export class ContinuousTest {
  // A digest, so that the test keeps no copy of a seed.
  #previous: Buffer | null = null;
  #failure: string | null = null;

  /** Why the source failed for good, or `null`. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Takes the next draw into account. §4.9.2: the first one is only there to be compared with. */
  check(draw: Uint8Array): void {
    const digest = hash('sha256', draw, 'buffer');
    if (isConstant(draw)) this.#failure ??= 'a draw repeated one byte throughout';
    if (this.#previous !== null && timingSafeEqual(this.#previous, digest)) {
      this.#failure ??= 'two successive draws were equal';
    }
    this.#previous = digest;
  }
}

// A device stuck at one value; at most 2^-248 for honest draws of 256 bits of entropy.
function isConstant(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === bytes[0]);
}
