/**
 * The evidence on the generator of plain keys: when a sample is due, and what its keys wait for. Counts and times only: the samples and
 * the suite are in `plain-generator.ts`.
 *
 * A plain key has no evidence of its own. So samples of its generator are judged by the whole suite: before the
 * first key, after every N keys, and when the last good sample is nine minutes old. Keys are released while a
 * sample is judged, unless a sample has failed, the next one is due already, or the last good one is ten minutes old.
 */
import { elapsedMs, type Instant } from '../clock.ts';

/**
 * Keys between two samples. Measured (bench/plain-evidence.ts): a sample costs less than 2 % of the work for as many keys.
 */
export const EVIDENCE_INTERVAL = 8_192;

/** How old the last good sample may be when a key is released. */
const MAX_AGE_MS = 600_000;

/** The age at which the next one is due: early, so that no key has to wait for its verdict. */
const REFRESH_AGE_MS = 540_000;

/** A sample, by the number of keys made before it, and the time it was drawn. */
interface Sample {
  readonly made: number;
  readonly at: Instant;
}

/** What a verdict asks for: nothing, a second sample at once, or the end of generation. */
export type Consequence = 'none' | 'second_sample' | 'latch';

export class PlainEvidence {
  readonly #interval: number;
  #made = 0;
  /** The last one that passed. */
  #good: Sample | null = null;
  /** The one that is being judged. */
  #out: Sample | null = null;
  /** The last one failed, and none has passed since. */
  #failed = false;
  /** No key follows. */
  #ended = false;
  /** Keys up to this number are vouched for: by a sample that passed, and none failed between it and the good one before. */
  #vouched = 0;
  /** When the sample was drawn that vouches for them. */
  #vouchedMs: number | null = null;
  #released: { readonly number: number; readonly keyId: string }[] = [];

  constructor(interval = EVIDENCE_INTERVAL) {
    this.#interval = interval;
  }

  /** Whether a sample is to be drawn before the next key is made. */
  isDue(now: Instant): boolean {
    if (this.#out) return false;
    if (!this.#good || this.#failed || elapsedMs(this.#good.at, now) >= REFRESH_AGE_MS) return true;
    return this.#isUsedUp(this.#good) || this.#owesLast();
  }

  /** Whether a sample is being judged. */
  get isOut(): boolean {
    return this.#out !== null;
  }

  /** Whether no key may be made now. */
  mustWait(now: Instant): boolean {
    if (!this.mayRelease(now) || this.#owesLast()) return true;
    return this.#out !== null && this.#isUsedUp(this.#out);
  }

  /** Whether keys that were made may be released now. */
  mayRelease(now: Instant): boolean {
    return this.#good !== null && !this.#failed && elapsedMs(this.#good.at, now) < MAX_AGE_MS;
  }

  /** No key follows: a last sample is due if a key was released that none vouches for. */
  end(): void {
    this.#ended = true;
  }

  /** A sample has been drawn, after all keys made so far. */
  sampleDrawn(at: Instant): void {
    this.#out = { made: this.#made, at };
  }

  /**
   * The verdict on the sample that was drawn last. One failure may be chance, two in a row are a defect. A pass right
   * after a failure lets keys go on, but vouches for none: the defect may come and go.
   */
  judged(passed: boolean): Consequence {
    const sample = this.#out;
    if (!sample) throw new Error('a verdict came without a sample');
    this.#out = null;
    if (!passed) {
      const isSecond = this.#failed;
      this.#failed = true;
      return isSecond ? 'latch' : 'second_sample';
    }
    this.#good = sample;
    if (!this.#failed) this.#vouchFor(sample);
    this.#failed = false;
    return 'none';
  }

  /** Counts a key, and returns its number. */
  keyMade(): number {
    this.#made += 1;
    return this.#made;
  }

  /** The row of a key is durable. */
  keyReleased(number: number, keyId: string): void {
    if (number > this.#vouched) this.#released.push({ number, keyId });
  }

  /** Keys released that no good sample vouches for, in order. */
  unvouchedKeys(): string[] {
    return this.#released.map(({ keyId }) => keyId);
  }

  /** When the last sample was drawn that vouches for keys, by the wall clock; null before the first. */
  get lastGoodMs(): number | null {
    return this.#vouchedMs;
  }

  #vouchFor({ made, at }: Sample): void {
    this.#vouched = made;
    this.#vouchedMs = at.wallMs;
    this.#released = this.#released.filter(({ number }) => number > made);
  }

  #owesLast(): boolean {
    return this.#ended && this.#released.length > 0;
  }

  #isUsedUp({ made }: Sample): boolean {
    return this.#made - made >= this.#interval;
  }
}
