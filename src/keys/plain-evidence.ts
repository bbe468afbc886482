/**
 * Schedule of samples of the generator of plain keys: when one is due, and when keys must wait. It holds counts and
 * times only; `plain-generator.ts` draws the samples.
 *
 * A plain key has no evidence of its own, so the whole suite judges samples of its generator: before the first
 * key, after every N keys, and when the last good sample is nine minutes old. Keys are still released while a sample is
 * judged, unless the last one failed, the next one is already due, or the last good one is ten minutes old.
 */
import { elapsedMs, type Instant } from '../clock.ts';
import { FailuresInARow } from './failures-in-a-row.ts';

/**
 * Keys between two samples. Measured (bench/plain-evidence.ts): a sample costs less than 2 % of the work for these keys.
 */
export const EVIDENCE_INTERVAL = 8_192;

/** Maximum age of the last good sample when a key is released. */
const MAX_AGE_MS = 600_000;

/** Age at which the next sample is due: early, so that no key waits for its verdict. */
const REFRESH_AGE_MS = 540_000;

/** A sample: the number of keys generated before it, and the time it was drawn. */
interface Sample {
  readonly generated: number;
  readonly at: Instant;
}

/** The evidence on a generator, as other threads see it. */
export interface EvidenceState {
  /** When the last good sample was drawn; null before the first. */
  readonly goodAt: Instant | null;
  /** True if the last verdict was a failure. */
  readonly isFailed: boolean;
  /** Failed samples since the start. It never decreases, so a pass does not hide a failure. */
  readonly failures: number;
}

/**
 * Reports whether keys may be released now that were generated when `failures` samples had failed. A key before a failed
 * sample is never released, although a second sample passed: the defect may come and go.
 */
export function mayRelease(state: EvidenceState, failures: number, now: Instant): boolean {
  const { goodAt, isFailed } = state;
  if (state.failures !== failures || goodAt === null || isFailed) return false;
  return elapsedMs(goodAt, now) < MAX_AGE_MS;
}

/** Consequence of a verdict: nothing, a second sample at once, or the end of generation. */
type Consequence = 'none' | 'second_sample' | 'latch';

export class PlainEvidence {
  readonly #interval: number;
  #generated = 0;
  /** The last sample that passed. */
  #good: Sample | null = null;
  /** The sample that is being judged. */
  #pending: Sample | null = null;
  readonly #inARow = new FailuresInARow();
  #failures = 0;
  /** True if no further key comes. */
  #ended = false;
  /** Keys up to this number have evidence: a later sample passed, without a failure since the good sample before. */
  #vouched = 0;
  /** Wall-clock time of the sample behind `#vouched`. */
  #vouchedMs: number | null = null;
  #released: { readonly number: number; readonly keyId: string }[] = [];

  constructor(interval = EVIDENCE_INTERVAL) {
    this.#interval = interval;
  }

  /** Reports whether a sample is due before the next key. */
  isDue(now: Instant): boolean {
    if (this.#pending) return false;
    if (!this.#good || this.#isFailed || elapsedMs(this.#good.at, now) >= REFRESH_AGE_MS)
      return true;
    return this.#isUsedUp(this.#good) || this.#owesLast();
  }

  /** True while a sample is being judged. */
  get isPending(): boolean {
    return this.#pending !== null;
  }

  /** Reports whether no key may be generated now. */
  mustWait(now: Instant): boolean {
    if (!mayRelease(this.state, this.#failures, now) || this.#owesLast()) return true;
    return this.#pending !== null && this.#isUsedUp(this.#pending);
  }

  /** Failed samples since the start. */
  get failures(): number {
    return this.#failures;
  }

  get state(): EvidenceState {
    return {
      goodAt: this.#good?.at ?? null,
      isFailed: this.#isFailed,
      failures: this.#failures,
    };
  }

  /** Ends generation: a last sample is due if a released key has no evidence yet. */
  end(): void {
    this.#ended = true;
  }

  /** Records that a sample was drawn after all keys so far. */
  sampleDrawn(at: Instant): void {
    this.#pending = { generated: this.#generated, at };
  }

  /**
   * Records the verdict on the last sample. A pass right after a failure lets generation continue but is no evidence for
   * earlier keys, because the defect may come and go.
   */
  judged(passed: boolean): Consequence {
    const sample = this.#pending;
    if (!sample) throw new Error('a verdict came without a sample');
    this.#pending = null;
    const followsFailure = this.#isFailed;
    const isDefect = this.#inARow.add(passed);
    if (!passed) {
      this.#failures += 1;
      return isDefect ? 'latch' : 'second_sample';
    }
    this.#good = sample;
    if (!followsFailure) this.#vouchFor(sample);
    return 'none';
  }

  /** Counts a key and returns its number. */
  keyGenerated(): number {
    this.#generated += 1;
    return this.#generated;
  }

  /** Records that the row of a key is durable. */
  keyReleased(number: number, keyId: string): void {
    if (number > this.#vouched) this.#released.push({ number, keyId });
  }

  /** Returns the released keys without a good sample after them, in order. */
  unvouchedKeys(): string[] {
    return this.#released.map(({ keyId }) => keyId);
  }

  /** Wall-clock time, in ms, of the last sample that is evidence for keys; null before the first. */
  get lastGoodMs(): number | null {
    return this.#vouchedMs;
  }

  #vouchFor({ generated, at }: Sample): void {
    this.#vouched = generated;
    this.#vouchedMs = at.wallMs;
    this.#released = this.#released.filter(({ number }) => number > generated);
  }

  /** True if the last verdict was a failure. */
  get #isFailed(): boolean {
    return this.#inARow.count > 0;
  }

  #owesLast(): boolean {
    return this.#ended && this.#released.length > 0;
  }

  #isUsedUp({ generated }: Sample): boolean {
    return this.#generated - generated >= this.#interval;
  }
}
