/**
 * The repeated block test: a block of samples MUST NOT come twice.
 *
 * It is the continuous test of FIPS 140-2 §4.9.2 with a longer memory. It sees what the tests of
 * SP 800-90B §4.4 cannot: a cache or a replay that gives perfect bits again. An honest block holds at
 * least 256 bits of min-entropy, so a false alarm has a chance below 2^-230 in a lifetime.
 */
import { hash } from 'node:crypto';

/** Blocks remembered. */
const MEMORY_BLOCKS = 4_096;

export class RepeatedBlockTest {
  // Digests, so that the test keeps no samples. A Set gives back its members oldest first.
  readonly #digests = new Set<string>();

  /** Whether `block` is one of the last 4,096; it is remembered from now on. */
  sees(block: Uint8Array): boolean {
    const digest = hash('sha256', block, 'base64');
    if (this.#digests.has(digest)) return true;
    this.#digests.add(digest);
    if (this.#digests.size > MEMORY_BLOCKS) {
      const [oldest] = this.#digests;
      this.#digests.delete(oldest);
    }
    return false;
  }
}
