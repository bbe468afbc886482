/**
 * The continuous random number generator test of FIPS 140-2 §4.9.2: two successive draws MUST
 * differ.
 *
 * It is for sources of conditioned output. The tests of NIST SP 800-90B §4.4 do not apply to them,
 * because those are for raw samples (`packages/sp800-90b`). For honest draws of 256 bits of entropy
 * it fails with probability 2^-256 a draw.
 */
import { hash, timingSafeEqual } from 'node:crypto';

const DIGEST_BYTES = 32;

/** Compares each draw with the previous one. A failure is permanent. */
export class ContinuousTest {
  // Digests, so that the test keeps no copy of a seed. The two buffers take turns.
  #previous: Buffer = Buffer.alloc(DIGEST_BYTES);
  #current: Buffer = Buffer.alloc(DIGEST_BYTES);
  #isFirst = true;
  #failure: string | null = null;

  /** Reason why the source failed permanently, or `null`. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Tests the next draw. §4.9.2: the first draw is used only for comparison. */
  check(draw: Uint8Array): void {
    // A digest as text costs a third of one in a new buffer (bench/key-path.ts).
    this.#current.write(hash('sha256', draw, 'binary'), 'latin1');
    if (isConstant(draw)) this.#failure ??= 'a draw repeated one byte throughout';
    if (!this.#isFirst && timingSafeEqual(this.#previous, this.#current)) {
      this.#failure ??= 'two successive draws were equal';
    }
    [this.#previous, this.#current] = [this.#current, this.#previous];
    this.#isFirst = false;
  }
}

// A device stuck at one value. The probability is at most 2^-248 for honest draws of 256 bits of
// entropy.
function isConstant(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === bytes[0]);
}
