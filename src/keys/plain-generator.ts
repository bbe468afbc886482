/**
 * The generator of plain keys, and what is known of it. Samples of it go to a suite worker, so that the thread
 * that writes the ledger does not run the suite itself.
 */
import type { Gate } from '#sp800-22';
import { type Instant, instantNow, systemClock } from '../clock.ts';
import type { Generator } from './generator.ts';
import { gateDefect } from './latch.ts';
import { PlainEvidence } from './plain-evidence.ts';

/** Runs the whole suite on a sample before modulation, wipes it, and answers once. */
export type JudgeSample = (sample: Uint8Array<ArrayBuffer>, answer: (gate: Gate) => void) => void;

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
   * Makes a key by `make`, and draws a sample before it if one is due. Returns the key and its number, or null if no
   * key may be made before a verdict. Throws what `make` throws, and `entropy_unavailable` if the sample cannot be drawn.
   */
  make<Key>(
    make: (generator: Generator) => Key,
  ): { readonly key: Key; readonly number: number } | null {
    if (!this.hasEvidence()) return null;
    const key = make(this.generator);
    return { key, number: this.#evidence.keyMade() };
  }

  /**
   * Whether keys may be made now; so it is, too, when none will be, because the process has latched. Draws a sample
   * if one is due. Throws `entropy_unavailable` if that cannot be done.
   */
  hasEvidence(): boolean {
    this.#drawIfDue();
    return this.generator.latched !== null || !this.#evidence.mustWait(this.#now());
  }

  /** Whether keys that were made may be released now. */
  mayRelease(): boolean {
    return this.#evidence.mayRelease(this.#now());
  }

  /** Whether keys wait for the verdict on a sample that is out. */
  get awaitsVerdict(): boolean {
    const { isOut } = this.#evidence;
    return isOut && !this.generator.latched && this.#evidence.mustWait(this.#now());
  }

  /** Draws a sample if one is due, so that the next key need not wait. To be called now and then. */
  refresh(): void {
    try {
      this.#drawIfDue();
    } catch {
      // Without entropy there is no sample. The next key tries again.
    }
  }

  /** No key follows. `hasEvidence` is true then when those released are vouched for. */
  end(): void {
    this.#evidence.end();
  }

  /** The row of a key is durable. MUST be called for each, with the number of the key. */
  keyReleased(number: number, keyId: string): void {
    this.#evidence.keyReleased(number, keyId);
  }

  /** Keys released that no good sample vouches for. */
  unvouchedKeys(): string[] {
    return this.#evidence.unvouchedKeys();
  }

  /** When the last sample was drawn that vouches for keys, by the wall clock; null before the first. */
  get lastGoodMs(): number | null {
    return this.#evidence.lastGoodMs;
  }

  #drawIfDue(): void {
    const now = this.#now();
    if (!this.#evidence.isDue(now)) return;
    const sample = this.generator.takeSample();
    if (!sample) return;
    this.#evidence.sampleDrawn(now);
    this.#judgeSample(sample, (gate) => this.#settle(gate));
  }

  #settle(gate: Gate): void {
    const consequence = this.#evidence.judged(gate.verdict === 'PASS');
    this.generator.judged(gate, SAMPLES);
    if (consequence === 'latch') {
      this.generator.latch(gateDefect(gate, SAMPLES));
    } else if (consequence === 'second_sample') {
      this.refresh();
    }
  }
}
