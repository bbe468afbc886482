/**
 * The repeated draw test: a draw MUST NOT equal one of the last 16,384.
 *
 * It is the continuous test of FIPS 140-2 §4.9.2 with a longer memory. It detects what the tests of
 * SP 800-90B §4.4 cannot: a cache or a replay that delivers perfect bits again, and a source that
 * returns a few draws in turn. An honest draw, or its samples, holds at least 256 bits of
 * min-entropy, so the probability of a false alarm in a lifetime is below 2^-200.
 */
import { hash, randomFillSync } from 'node:crypto';
import { newBytes } from '../../bytes.ts';
import { RecentDigests } from './recent-digests.ts';

/** Number of draws remembered. */
export const REMEMBERED_DRAWS = 16_384;

const KEY_BYTES = 32;
const DIGEST_BYTES = 32;

export class RepeatedDrawTest {
  // The digests are keyed, SHA-256(key ‖ draw), because the plain digest of a noise source's samples
  // is the draw itself (`conditioning.ts`). A reader of the digests learns nothing about draws that
  // were taken.
  #keyed: Buffer = randomFillSync(newBytes(KEY_BYTES));
  readonly #digest: Buffer = newBytes(DIGEST_BYTES);
  readonly #recent = new RecentDigests(REMEMBERED_DRAWS, DIGEST_BYTES);

  /** Returns true if `draw` is one of the last 16,384, and remembers it. */
  sees(draw: Uint8Array): boolean {
    this.digestOf(draw);
    return this.#recent.sees(this.#digest);
  }

  /** Returns what is remembered of a draw, until the next call; for a test that it reveals nothing. */
  digestOf(draw: Uint8Array): Buffer {
    const end = KEY_BYTES + draw.length;
    if (this.#keyed.length < end) this.#grow(end);
    this.#keyed.set(draw, KEY_BYTES);
    // A digest as text costs a third of one in a new buffer (bench/key-path.ts).
    this.#digest.write(hash('sha256', this.#keyed.subarray(0, end), 'binary'), 'latin1');
    this.#keyed.fill(0, KEY_BYTES, end);
    return this.#digest;
  }

  /** Number of draws remembered. */
  get size(): number {
    return this.#recent.size;
  }

  #grow(lengthBytes: number): void {
    const longer = newBytes(lengthBytes);
    longer.set(this.#keyed);
    this.#keyed.fill(0);
    this.#keyed = longer;
  }
}
