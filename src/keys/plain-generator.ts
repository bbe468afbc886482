/**
 * The generator of plain keys, and what is known of it. Samples of it go to a suite worker, so that the thread
 * that writes the ledger does not run the suite itself.
 */
import { type Instant, instantNow, systemClock } from '../clock.ts';
import type { Gate } from '../sts/index.ts';
import type { Generator } from './generator.ts';
import { gateDefect } from './latch.ts';
import { PlainJudgement } from './plain-judgement.ts';

/** Runs the whole suite on a sample before modulation, and wipes it. MUST resolve. */
export type Judge = (sample: Uint8Array<ArrayBuffer>) => Promise<Gate>;

const SAMPLES = 'samples of the generator of plain keys';

export interface PlainGeneratorOptions {
  readonly now?: () => Instant;
  /** Keys between two samples. */
  readonly interval?: number;
}

export class PlainGenerator {
  readonly generator: Generator;
  readonly #judge: Judge;
  readonly #now: () => Instant;
  readonly #judgement: PlainJudgement;
  /** Settles when the sample that is out has been judged. */
  #verdict: Promise<void> = Promise.resolve();

  constructor(generator: Generator, judge: Judge, options: PlainGeneratorOptions = {}) {
    this.generator = generator;
    this.#judge = judge;
    this.#now = options.now ?? (() => instantNow(systemClock));
    this.#judgement = new PlainJudgement(options.interval);
  }

  /**
   * Makes a key by `make`, and draws a sample before it if one is due. Returns the key and its number. Throws what
   * `make` throws, and `entropy_unavailable` if the sample cannot be drawn.
   */
  make<Key>(make: (generator: Generator) => Key): { readonly key: Key; readonly number: number } {
    this.#drawIfDue();
    const key = make(this.generator);
    return { key, number: this.#judgement.keyMade() };
  }

  /**
   * Resolves when the keys made so far may be released, or the process has latched. Rejects with
   * `entropy_unavailable` if the sample that they wait for cannot be drawn.
   */
  async whenJudged(): Promise<void> {
    while (!this.generator.latched && this.#judgement.mustWait(this.#now())) {
      this.#drawIfDue();
      await this.#verdict;
    }
  }

  /** To be told of each key whose row is durable, with its number. */
  keyReleased(number: number, keyId: string): void {
    this.#judgement.keyReleased(number, keyId);
  }

  /** Keys released that no good judgement vouches for. */
  unjudgedKeys(): string[] {
    return this.#judgement.unjudgedKeys();
  }

  #drawIfDue(): void {
    const now = this.#now();
    if (!this.#judgement.isDue(now)) return;
    const sample = this.generator.takeSample();
    if (!sample) return;
    this.#judgement.sampleDrawn(now);
    this.#verdict = this.#judge(sample).then((gate) => this.#settle(gate));
  }

  #settle(gate: Gate): void {
    const consequence = this.#judgement.judged(gate.verdict === 'PASS');
    this.generator.judged(gate, SAMPLES);
    if (consequence === 'latch') {
      this.generator.latch(gateDefect(gate, SAMPLES));
    } else if (consequence === 'second_sample') {
      try {
        this.#drawIfDue();
      } catch {
        // Without entropy there is no sample. The next key, or the commit that waits, tries again.
      }
    }
  }
}
