/**
 * The repeated draw test: the samples of two draws MUST NOT be equal.
 *
 * It is the continuous test of FIPS 140-2 §4.9.2 with a longer memory. It detects what the tests of
 * SP 800-90B §4.4 cannot: a cache or a replay that delivers perfect bits again. The samples of an
 * honest draw hold at least 256 bits of min-entropy, so the probability of a false alarm in a
 * lifetime is below 2^-200.
 */
import { createHmac, randomBytes } from 'node:crypto';

/** Number of draws remembered. */
export const REMEMBERED_DRAWS = 16_384;

export class RepeatedDrawTest {
  // The digests are keyed, because the plain digest of the samples is the draw itself
  // (`conditioning.ts`), and strings cannot be wiped. A reader of these strings learns nothing
  // about draws that were taken.
  readonly #key = randomBytes(32);
  // A Set iterates over its members oldest first.
  readonly #digests = new Set<string>();

  /** Returns true if `samples` are those of one of the last 16,384 draws, and remembers them. */
  sees(samples: Uint8Array): boolean {
    const digest = createHmac('sha256', this.#key).update(samples).digest('base64');
    if (this.#digests.has(digest)) return true;
    this.#digests.add(digest);
    if (this.#digests.size > REMEMBERED_DRAWS) {
      const [oldest] = this.#digests;
      this.#digests.delete(oldest);
    }
    return false;
  }

  /** The remembered digests, for a test that they reveal nothing. */
  get remembered(): ReadonlySet<string> {
    return this.#digests;
  }
}
