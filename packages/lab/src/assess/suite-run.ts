/** One run of the suite on an input: cuts it into sequences, tests them on all workers, and yields the reports in order. */
import {
  type Constants,
  type LongStreamReport,
  type SuiteReport,
  TEST_NAMES,
} from '../../../sp800-22/src/index.ts';
import { type Cut, SequenceCutter } from '../input/cutter.ts';
import type { ConsumedInput, InputSequence, SequenceReader } from '../input/reader.ts';
import type { SuiteWorker } from '../platform.ts';
import { patience } from '../turns.ts';
import { LongStreamTests } from './long-streams.ts';
import { type Aborting, reports, untilAborted } from './order.ts';
import { SuitePool } from './pool.ts';

/** Sequences in memory per worker, so that no worker waits for the reader. */
const IN_HAND_PER_WORKER = 2;

/** Progress of a run. `expected` is the total number of sequences, if known. */
export interface Progress {
  readonly finished: number;
  readonly expected: number | undefined;
}

export interface RunControl {
  /** Ends the run at once. */
  readonly signal?: Aborting;
  readonly onProgress?: (progress: Progress) => void;
  /** Gets each sequence before it is tested. MUST NOT keep its bytes. */
  readonly onSequence?: (sequence: InputSequence, index: number) => void;
}

interface SuiteRunOptions extends RunControl {
  readonly constants: Constants;
  /** 0: the calling thread. */
  readonly workers: number;
  /** Default: the platform's. */
  readonly createWorker?: () => SuiteWorker;
}

export class SuiteRun {
  readonly #reader: SequenceReader;
  readonly #cut: Cut;
  readonly #cutter: SequenceCutter;
  readonly #options: SuiteRunOptions;
  readonly #pool: SuitePool;
  readonly #streams: LongStreamTests | undefined;
  #streamReports: readonly LongStreamReport[] | undefined;
  /** The input up to the end of each sequence in hand. */
  readonly #consumed: ConsumedInput[] = [];
  /** The input up to the end of the last sequence that was yielded, and the whole input at the end. */
  #read: ConsumedInput = { bytes: 0, sha256: '' };
  #finished = 0;
  #hints: readonly string[] = [];

  /** The kernels MUST be loaded. The caller MUST call `reports` once, which closes the reader. */
  constructor(reader: SequenceReader, cut: Cut, options: SuiteRunOptions) {
    this.#reader = reader;
    this.#cut = cut;
    this.#cutter = new SequenceCutter(reader, cut);
    this.#options = options;
    this.#pool = new SuitePool(options.workers, options.createWorker);
    const { thorough = false } = cut;
    const limit = Math.max(1, options.workers);
    this.#streams = thorough
      ? new LongStreamTests((stream) => this.#pool.runStream(stream), limit)
      : undefined;
  }

  /** The reports on long streams of a complete run, if they were wanted. */
  get streamReports(): readonly LongStreamReport[] | undefined {
    return this.#streamReports;
  }

  /** The whole input if all of it was read, else up to the end of the last sequence that was yielded. */
  get input(): ConsumedInput {
    return this.#read;
  }

  /** Signs that the input is no stream of bits, once the run has ended. */
  get hints(): readonly string[] {
    return this.#hints;
  }

  /** Reports that were yielded. */
  get finished(): number {
    return this.#finished;
  }

  /**
   * Yields the reports in the order of the sequences, with at most two sequences per worker in memory. An error of the input
   * is thrown after the reports of all earlier sequences, so that the same input always gives the same reports. An abort and
   * a failed worker end the run at once. Throws `AssessError`.
   */
  async *reports(): AsyncGenerator<SuiteReport> {
    const { constants, workers, signal, onProgress } = this.#options;
    const { tests: only, parameters, supplements } = this.#cut;
    // The scan belongs to the verdict on all tests.
    const scan = only.length === TEST_NAMES.length;
    const options = { constants, only, parameters, supplements, scan };
    const run = {
      next: async () => {
        await this.#streams?.room();
        return await this.#cutter.next();
      },
      test: (sequence: InputSequence) => this.#pool.run({ sequence, options }),
      onSequence: (sequence: InputSequence, index: number) => this.#take(sequence, index),
      limit: IN_HAND_PER_WORKER * Math.max(1, workers),
      signal,
    };
    try {
      for await (const report of reports(run)) {
        this.#read = this.#consumed.shift() ?? this.#read;
        this.#finished++;
        yield report;
        onProgress?.({ finished: this.#finished, expected: this.#cutter.expected });
      }
      this.#read = this.#reader.consumed();
      if (this.#streams) this.#streamReports = await untilAborted(this.#streams.end(), signal);
    } finally {
      this.#hints = this.#cutter.hints();
      this.#streams?.wipe();
      await this.#close();
    }
  }

  /**
   * Ends workers and reader. After an abort it does not wait for the workers, which may have a sequence in hand. It waits a
   * moment for the reader, and drops the error of one that fails.
   */
  async #close(): Promise<void> {
    const { signal } = this.#options;
    const workers = this.#pool.close();
    const reader = this.#reader.close();
    if (!signal?.aborted) await Promise.all([workers, reader]);
    else await Promise.race([reader.catch(() => {}), patience()]);
    workers.catch(() => {});
  }

  #take(sequence: InputSequence, index: number): void {
    this.#consumed.push(this.#reader.consumed());
    this.#streams?.take(sequence);
    this.#options.onSequence?.(sequence, index);
  }
}
