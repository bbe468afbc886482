/** One run of `phm assess`: reads, tests and reports sequences concurrently. */
import {
  type Constants,
  MINIMUM_BITS,
  type SuiteReport,
  TEST_NAMES,
  type TestName,
} from '#sp800-22';
import { countText, grouped } from '#sp800-22/report';
import { wipe } from '../../bytes.ts';
import { CommandError } from '../command-error.ts';
import {
  type InputFormat,
  inputName,
  openInput,
  type PackedSequence,
  type SequenceReader,
} from './input.ts';
import { AssessPool } from './worker-pool.ts';

/** The longest sequence: 8 MiB of binary data. Counts and sums of squares are exact up to here. */
export const MAX_BITS = 2 ** 26;

/** Sequences in memory per thread, so that no thread waits for the reader. */
const IN_HAND_PER_THREAD = 2;

export interface AssessOptions {
  /** A path, or `-` for standard input. */
  readonly file: string;
  readonly format: InputFormat;
  readonly constants: Constants;
  /** Bits of each sequence. By default the whole file is one sequence. */
  readonly bits?: number;
  /** Number of sequences, by default as many complete ones as the file contains. Needs `bits`. */
  readonly sequences?: number;
  /** Tests to run, by default all of them. */
  readonly tests?: readonly TestName[];
  readonly threads: number;
}

/** Progress of a run. `expected` is the total number of sequences, if known. */
export interface AssessProgress {
  readonly finished: number;
  readonly expected: number | undefined;
}

export interface AssessControl {
  /** Ends the run at once and reports the finished part. The message quotes its reason. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: AssessProgress) => void;
  /** Gets the first sequence, which starts at a byte, before it is tested. MUST NOT keep its bytes. */
  readonly onFirstSequence?: (sequence: PackedSequence) => void;
  /** Replaces the worker in tests. */
  readonly workerUrl?: URL;
}

/** Opens the input. Throws `CommandError` if it cannot be opened. The caller MUST call `reports` once. */
export async function openRun(options: AssessOptions, control: AssessControl): Promise<AssessRun> {
  const reader = await openInput(options.file, options.format);
  return new AssessRun(options, control, reader);
}

class AssessRun {
  readonly #options: AssessOptions;
  readonly #control: AssessControl;
  readonly #reader: SequenceReader;
  readonly #cutter: SequenceCutter;
  readonly #pool: AssessPool;
  /** Finished reports that wait for reports of earlier sequences. */
  readonly #finished = new Map<number, SuiteReport>();
  #submitted = 0;
  #delivered = 0;
  #reading = false;
  /** True at the end of the input, or the error that ended it. */
  #ended: boolean | Error = false;
  /** Error that ends the run at once. */
  #failure: Error | undefined;
  #wake = (): void => {};

  constructor(options: AssessOptions, control: AssessControl, reader: SequenceReader) {
    this.#options = options;
    this.#control = control;
    this.#reader = reader;
    this.#cutter = new SequenceCutter(reader, options);
    this.#pool = new AssessPool(options.threads, control.workerUrl);
  }

  /**
   * Yields the reports in the order of the sequences, with at most two sequences per thread in memory. An
   * error of the input is thrown after the reports of all earlier sequences, so that the same input always
   * gives the same reports. Ctrl-C and a failed worker end the run at once.
   */
  async *reports(): AsyncGenerator<SuiteReport> {
    const { signal } = this.#control;
    signal?.addEventListener('abort', this.#onAbort);
    if (signal?.aborted) this.#onAbort();
    try {
      while (!this.#isOver()) {
        const report = this.#finished.get(this.#delivered);
        if (report) yield this.#deliver(report);
        else await this.#nextChange();
      }
    } finally {
      signal?.removeEventListener('abort', this.#onAbort);
      await Promise.all([this.#pool.close(), this.#reader.close()]);
    }
  }

  /** Reports whether the run is complete. Throws the error that ended it early. */
  #isOver(): boolean {
    if (this.#finished.has(this.#delivered)) return false;
    if (this.#failure) throw this.#failure;
    if (!this.#ended || this.#delivered < this.#submitted) return false;
    if (this.#ended instanceof Error) throw this.#ended;
    return true;
  }

  #deliver(report: SuiteReport): SuiteReport {
    this.#finished.delete(this.#delivered++);
    this.#control.onProgress?.({ finished: this.#delivered, expected: this.#cutter.expected });
    return report;
  }

  /** Keeps the reader busy, and waits until something has been read, tested or aborted. */
  #nextChange(): Promise<void> {
    const inHand = this.#submitted - this.#delivered;
    const wanted = inHand < IN_HAND_PER_THREAD * this.#options.threads;
    if (wanted && !this.#ended && !this.#reading) void this.#read();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #read(): Promise<void> {
    this.#reading = true;
    try {
      const sequence = await this.#cutter.next();
      if (sequence && this.#submitted === 0) this.#control.onFirstSequence?.(sequence);
      if (sequence) void this.#submit(sequence);
      else this.#ended = true;
    } catch (error) {
      this.#ended = error as Error;
    }
    this.#reading = false;
    this.#wake();
  }

  async #submit(sequence: PackedSequence): Promise<void> {
    const index = this.#submitted++;
    const { constants, tests: only = TEST_NAMES, file } = this.#options;
    try {
      this.#finished.set(index, await this.#pool.run({ sequence, constants, only }));
    } catch (error) {
      this.#failure ??= workerFailure(index, file, error as Error);
    }
    this.#wake();
  }

  readonly #onAbort = (): void => {
    const none = this.#delivered === 0 ? ' before a sequence was finished' : '';
    this.#failure = new CommandError(`${this.#control.signal?.reason}${none}`, 1);
    this.#wake();
  };
}

/** Cuts the input into sequences of the requested length and number, or throws with the reason. */
class SequenceCutter {
  readonly #reader: SequenceReader;
  readonly #options: AssessOptions;
  #taken = 0;

  constructor(reader: SequenceReader, options: AssessOptions) {
    this.#reader = reader;
    this.#options = options;
  }

  /** Total number of sequences, known or estimated from those taken. */
  get expected(): number | undefined {
    const { bits, sequences } = this.#options;
    if (bits === undefined) return 1;
    const { sizeBytes, takenBytes } = this.#reader;
    if (sequences !== undefined || sizeBytes === undefined) return sequences;
    return Math.max(this.#taken, Math.floor((this.#taken * sizeBytes) / takenBytes));
  }

  /** Returns the next sequence, or `null` after the last one. */
  async next(): Promise<PackedSequence | null> {
    const { bits, sequences = Infinity } = this.#options;
    if (this.#taken === (bits === undefined ? 1 : sequences)) return null;
    if (this.#taken === 0) this.#refuseTooFewInFile();
    const sequence = await this.#reader.readSequence(bits ?? MAX_BITS + 1);
    const usable = this.#taken === 0 ? this.#checkFirst(sequence) : this.#checkNext(sequence);
    if (usable) this.#taken++;
    else wipe(sequence.bytes);
    return usable ? sequence : null;
  }

  /** Throws before any work if a binary file is too small for the requested sequences. */
  #refuseTooFewInFile(): void {
    const { format, bits = 0, sequences = 1 } = this.#options;
    const { sizeBytes } = this.#reader;
    if (format !== 'binary' || sizeBytes === undefined || sequences === 1) return;
    const held = Math.floor((sizeBytes * 8) / bits);
    if (held > 0 && held < sequences) throw this.#tooFewSequences(held);
  }

  #checkFirst(sequence: PackedSequence): true {
    const { bits, tests } = this.#options;
    const name = inputName(this.#options.file);
    if (sequence.bits === 0) throw new CommandError(`${name} is empty`, 1);
    if (bits === undefined && sequence.bits > MAX_BITS) {
      throw new CommandError(
        `${name} contains more than ${grouped(MAX_BITS)} bits; use --bits to cut it into sequences`,
        1,
      );
    }
    if (bits !== undefined && sequence.bits < bits) {
      throw new CommandError(
        `${name} contains ${grouped(sequence.bits)} bits, fewer than --bits ${bits}; lower --bits or leave it out`,
        1,
      );
    }
    const minimum = Math.min(...(tests ?? TEST_NAMES).map((test) => MINIMUM_BITS[test]));
    if (sequence.bits >= minimum) return true;
    const which = tests ? 'of the selected tests' : 'test';
    throw new CommandError(
      `${name} gives ${grouped(sequence.bits)} bits, too few for any ${which}; at least ${grouped(minimum)} are needed`,
      1,
    );
  }

  /** Returns false for a remainder shorter than a sequence, which is not used. */
  #checkNext(sequence: PackedSequence): boolean {
    const { bits, sequences } = this.#options;
    if (sequence.bits === bits) return true;
    if (sequences !== undefined) throw this.#tooFewSequences(this.#taken);
    return false;
  }

  #tooFewSequences(held: number): CommandError {
    const { file, bits = 0, sequences } = this.#options;
    return new CommandError(
      `${inputName(file)} contains ${countText(held)} of ${grouped(bits)} bits, fewer than --sequences ${sequences}; lower --sequences or leave it out`,
      1,
    );
  }
}

function workerFailure(index: number, file: string, { message }: Error): CommandError {
  const where = `sequence ${grouped(index + 1)} of ${inputName(file)}`;
  return new CommandError(`the tests on ${where} failed: ${message}`, 1);
}
