/**
 * The generator of plain keys, with its evidence. A suite worker judges its samples, so that the thread that writes
 * the ledger does not run the suite.
 */
import { type Instant, instantNow, systemClock } from '../clock.ts';
import type { SampleVerdict } from './evidence-suite.ts';
import type { Generator } from './generator.ts';
import { gateDefect } from './latch.ts';
import { type EvidenceState, mayRelease, PlainEvidence } from './plain-evidence.ts';

/** What was made, with its number and the failed samples of its generator before it. */
export interface Numbered<Key> {
  readonly key: Key;
  readonly number: number;
  readonly failures: number;
}

/** Runs the whole suite on an unmodulated sample, wipes the sample, and calls `answer` once. */
export type JudgeSample = (
  sample: Uint8Array<ArrayBuffer>,
  answer: (verdict: SampleVerdict) => void,
) => void;

const SAMPLES = 'samples of the generator of plain keys';

export interface PlainGeneratorOptions {
  readonly now?: () => Instant;
  /** Keys between two samples. */
  readonly interval?: number;
}

export class PlainGenerator {
  readonly generator: Generator;
  readonly #judgeSample: JudgeSample;
  readonly #now: () => Instant;
  readonly #evidence: PlainEvidence;

  constructor(generator: Generator, judgeSample: JudgeSample, options: PlainGeneratorOptions = {}) {
    this.generator = generator;
    this.#judgeSample = judgeSample;
    this.#now = options.now ?? (() => instantNow(systemClock));
    this.#evidence = new PlainEvidence(options.interval);
  }

  /**
   * Generates a key with `make`, after drawing a sample if one is due. Returns null if keys must wait for a verdict.
   * Throws what `make` throws, and `entropy_unavailable` if the sample cannot be drawn.
   */
  make<Key>(make: (generator: Generator) => Key): Numbered<Key> | null {
    if (!this.hasEvidence()) return null;
    const key = make(this.generator);
    const { failures } = this.#evidence;
    return { key, number: this.#evidence.keyGenerated(), failures };
  }

  /**
   * Draws a sample if one is due, and reports whether keys may be generated now. True also after a latch, when none
   * will be. Throws `entropy_unavailable` if the sample cannot be drawn.
   */
  hasEvidence(): boolean {
    // One reading of the clock for both: two cost a tenth of a microsecond a key.
    const now = this.#now();
    this.#drawIfDue(now);
    return this.generator.latched !== null || !this.#evidence.mustWait(now);
  }

  /**
   * Reports whether keys may be released now that were made when `failures` samples had failed. MUST be asked after each
   * wait, because verdicts come meanwhile.
   */
  mayRelease(failures: number): boolean {
    return mayRelease(this.#evidence.state, failures, this.#now());
  }

  /** The evidence now, for the thread that releases keys of this generator. */
  get evidence(): EvidenceState {
    return this.#evidence.state;
  }

  /** True while keys wait for the verdict on a sample. */
  get awaitsVerdict(): boolean {
    const { isPending } = this.#evidence;
    return isPending && !this.generator.latched && this.#evidence.mustWait(this.#now());
  }

  /** Draws a sample if one is due, so that the next key need not wait. Callers invoke it from time to time. */
  refresh(): void {
    try {
      this.#drawIfDue(this.#now());
    } catch {
      // Without entropy there is no sample. The next key tries again.
    }
  }

  /** Ends generation. `hasEvidence` is true from then on once all released keys have evidence. */
  end(): void {
    this.#evidence.end();
  }

  /** Records that the row of a key is durable. MUST be called for each key, with its number. */
  keyReleased(number: number, keyId: string): void {
    this.#evidence.keyReleased(number, keyId);
  }

  /** Returns the released keys without a good sample after them. */
  unvouchedKeys(): string[] {
    return this.#evidence.unvouchedKeys();
  }

  /** Wall-clock time, in ms, of the last sample that is evidence for keys; null before the first. */
  get lastGoodMs(): number | null {
    return this.#evidence.lastGoodMs;
  }

  #drawIfDue(now: Instant): void {
    if (!this.#evidence.isDue(now)) return;
    const sample = this.generator.takeSample();
    if (!sample) return;
    this.#evidence.sampleDrawn(now);
    this.#judgeSample(sample, (verdict) => this.#settle(verdict));
  }

  #settle(verdict: SampleVerdict): void {
    const { gate } = verdict;
    const consequence = this.#evidence.judged(gate.verdict === 'PASS');
    this.generator.judged(verdict, SAMPLES);
    if (consequence === 'latch') {
      this.generator.latch(gateDefect(gate, SAMPLES));
    } else if (consequence === 'second_sample') {
      this.refresh();
    }
  }
}
