/**
 * The continuous random number generator test of FIPS 140-2 §4.9.2, with a longer memory: a draw MUST
 * differ from each of the 16,384 before it, not only from the last one.
 *
 * It is for sources of conditioned output. The tests of NIST SP 800-90B §4.4 do not apply to them,
 * because those are for raw samples (`packages/sp800-90b`).
 */
import { REMEMBERED_DRAWS, RepeatedDrawTest } from './repeated-draw.ts';

/** Compares each draw with earlier ones. A failure is permanent. */
export class ContinuousTest {
  readonly #repeats = new RepeatedDrawTest();
  #failure: string | null = null;

  /** Reason why the source failed permanently, or `null`. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Tests the next draw. §4.9.2: the first draw is used only for comparison. */
  check(draw: Uint8Array): void {
    if (isConstant(draw)) this.#failure ??= 'a draw repeated one byte throughout';
    if (this.#repeats.sees(draw)) {
      this.#failure ??= `a draw repeated one of the last ${REMEMBERED_DRAWS.toLocaleString('en')}`;
    }
  }
}

// A device stuck at one value. The probability is at most 2^-248 for honest draws of 256 bits of
// entropy.
function isConstant(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === bytes[0]);
}
