/**
 * The repeated draw test: the samples behind two draws MUST NOT be the same.
 *
 * It is the continuous test of FIPS 140-2 §4.9.2 with a longer memory. It sees what the tests of
 * SP 800-90B §4.4 cannot: a cache or a replay that gives perfect bits again. The samples of an honest
 * draw hold at least 256 bits of min-entropy, so a false alarm has a chance below 2^-200 in a lifetime.
 */
import { createHmac, randomBytes } from 'node:crypto';

/** Draws remembered. */
export const REMEMBERED_DRAWS = 16_384;

export class RepeatedDrawTest {
  // Keyed, since the plain digest of the samples is the draw itself (`conditioning.ts`), and strings
  // cannot be wiped: who reads them learns nothing of draws that were taken.
  readonly #key = randomBytes(32);
  // A Set gives back its members oldest first.
  readonly #digests = new Set<string>();

  /** Whether `samples` are those of one of the last 16,384 draws; they are remembered from now on. */
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

  /** What is remembered, for a test of what it gives away. */
  get remembered(): ReadonlySet<string> {
    return this.#digests;
  }
}
