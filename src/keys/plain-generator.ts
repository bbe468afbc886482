/**
 * The generator of plain keys, and what is known of it. Samples of it go to a suite worker, so that the thread
 * that writes the ledger does not run the suite itself.
 */
import { monotonicMs } from '../clock.ts';
import type { Gate } from '../sts/index.ts';
import type { Generator } from './generator.ts';
import { gateDefect } from './latch.ts';
import { PlainJudgement } from './plain-judgement.ts';

/** Runs the whole suite on a sample before modulation, and wipes it. MUST resolve. */
export type Judge = (sample: Uint8Array<ArrayBuffer>) => Promise<Gate>;

export interface PlainGeneratorOptions {
  /** Milliseconds of a monotonic clock. */
  readonly nowMs?: () => number;
  /** Keys between two samples. */
  readonly interval?: number;
}

export class PlainGenerator {
  readonly generator: Generator;
  readonly #judge: Judge;
  readonly #nowMs: () => number;
  readonly #judgement: PlainJudgement;
  /** Settles when the sample that is out has been judged. */
  #verdict: Promise<void> = Promise.resolve();

  constructor(generator: Generator, judge: Judge, options: PlainGeneratorOptions = {}) {
    this.generator = generator;
    this.#judge = judge;
    this.#nowMs = options.nowMs ?? monotonicMs;
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
    while (!this.generator.latched && this.#judgement.mustWait(this.#nowMs())) {
      this.#drawIfDue();
      await this.#verdict;
    }
  }

  /** To be told of each key whose row is durable, with its number. */
  keyReleased(number: number, keyId: string): void {
    this.#judgement.keyReleased(number, keyId);
  }

  /** Keys released since the last good judgement. */
  unjudgedKeys(): string[] {
    return this.#judgement.unjudgedKeys();
  }

  #drawIfDue(): void {
    const nowMs = this.#nowMs();
    if (!this.#judgement.isDue(nowMs)) return;
    const sample = this.generator.takeSample();
    if (!sample) return;
    this.#judgement.sampleDrawn(nowMs);
    this.#verdict = this.#judge(sample).then((gate) => this.#settle(gate));
  }

  #settle(gate: Gate): void {
    const consequence = this.#judgement.judged(gate.verdict === 'PASS');
    if (consequence === 'latch') {
      this.generator.latch(gateDefect(gate, 'samples of the generator of plain keys'));
    } else if (consequence === 'second_sample') {
      try {
        this.#drawIfDue();
      } catch {
        // Without entropy there is no sample. The next key, or the commit that waits, tries again.
      }
    }
  }
}
