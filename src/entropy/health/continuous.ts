/**
 * The continuous random number generator test of FIPS 140-2 §4.9.2: two successive draws MUST
 * differ.
 *
 * It is for sources of conditioned output. The tests of NIST SP 800-90B §4.4 do not apply to them,
 * because those are for raw samples (`packages/sp800-90b`). For honest draws of 256 bits of entropy
 * it fails with probability 2^-256 a draw.
 */
import { hash, timingSafeEqual } from 'node:crypto';

/** Compares each draw with the previous one. A failure is permanent. */
export class ContinuousTest {
  // A digest, so that the test keeps no copy of a seed.
  #previous: Buffer | null = null;
  #failure: string | null = null;

  /** Reason why the source failed permanently, or `null`. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Tests the next draw. §4.9.2: the first draw is used only for comparison. */
  check(draw: Uint8Array): void {
    const digest = hash('sha256', draw, 'buffer');
    if (isConstant(draw)) this.#failure ??= 'a draw repeated one byte throughout';
    if (this.#previous !== null && timingSafeEqual(this.#previous, digest)) {
      this.#failure ??= 'two successive draws were equal';
    }
    this.#previous = digest;
  }
}

// A device stuck at one value. The probability is at most 2^-248 for honest draws of 256 bits of
// entropy.
function isConstant(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === bytes[0]);
}
