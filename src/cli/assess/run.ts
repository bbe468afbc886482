/** One run of `phm assess`: reads, tests and hands out reports side by side. */
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

/** Sequences read or under way for each thread, so that none waits for the reader. */
const IN_HAND_PER_THREAD = 2;

export interface AssessOptions {
  /** A path, or `-` for standard input. */
  readonly file: string;
  readonly format: InputFormat;
  readonly constants: Constants;
  /** Bits of each sequence; without it the whole file is one sequence. */
  readonly bits?: number;
  /** How many sequences; as many whole ones as the file holds unless given. Needs `bits`. */
  readonly sequences?: number;
  /** The only tests to run; all of them unless given. */
  readonly tests?: readonly TestName[];
  readonly threads: number;
}

/** How far a run is. `expected`: the sequences there will be, where that can be told. */
export interface AssessProgress {
  readonly finished: number;
  readonly expected: number | undefined;
}

export interface AssessControl {
  /** Ends the run at once; what is finished is reported. Its reason is a word for the message. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: AssessProgress) => void;
  /** Sees the first sequence before it is tested, which begins with a byte. MUST NOT keep its bytes. */
  readonly onFirstSequence?: (sequence: PackedSequence) => void;
  /** Another worker, for tests. */
  readonly workerUrl?: URL;
}

/** Opens the input. Throws `CommandError` when there is none. `reports` MUST be called, once. */
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
  /** Reports that wait for those of earlier sequences. */
  readonly #finished = new Map<number, SuiteReport>();
  #submitted = 0;
  #delivered = 0;
  #reading = false;
  /** The input has come to its end, or to an error that is its end. */
  #ended: boolean | Error = false;
  /** Ends the run at once. */
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
   * The reports in the order of the sequences; at most two sequences a thread are in memory. An end of
   * the input that is an error is thrown behind the reports of the sequences before it, so that the
   * same input always gives the same reports. Ctrl-C and a failed worker end the run at once.
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

  /** Throws what ended the run early. */
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

/** Takes sequences of the length and number asked for, or says why there are none. */
class SequenceCutter {
  readonly #reader: SequenceReader;
  readonly #options: AssessOptions;
  #taken = 0;

  constructor(reader: SequenceReader, options: AssessOptions) {
    this.#reader = reader;
    this.#options = options;
  }

  /** The sequences there will be: known, or estimated from those taken. */
  get expected(): number | undefined {
    const { bits, sequences } = this.#options;
    if (bits === undefined) return 1;
    const { sizeBytes, takenBytes } = this.#reader;
    if (sequences !== undefined || sizeBytes === undefined) return sequences;
    return Math.max(this.#taken, Math.floor((this.#taken * sizeBytes) / takenBytes));
  }

  /** The next sequence, or `null` behind the last. */
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

  /** A binary file says by its size how many sequences it holds, before any work is done. */
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
        `${name} holds more than ${grouped(MAX_BITS)} bits; use --bits to cut it into sequences`,
        1,
      );
    }
    if (bits !== undefined && sequence.bits < bits) {
      throw new CommandError(
        `${name} holds ${grouped(sequence.bits)} bits, fewer than --bits ${bits}; lower --bits or leave it out`,
        1,
      );
    }
    const minimum = Math.min(...(tests ?? TEST_NAMES).map((test) => MINIMUM_BITS[test]));
    if (sequence.bits >= minimum) return true;
    const which = tests ? 'of the tests asked for' : 'test';
    throw new CommandError(
      `${name} gives ${grouped(sequence.bits)} bits, too few for any ${which}; the shortest need ${grouped(minimum)}`,
      1,
    );
  }

  /** A rest shorter than a sequence is not used. */
  #checkNext(sequence: PackedSequence): boolean {
    const { bits, sequences } = this.#options;
    if (sequence.bits === bits) return true;
    if (sequences !== undefined) throw this.#tooFewSequences(this.#taken);
    return false;
  }

  #tooFewSequences(held: number): CommandError {
    const { file, bits = 0, sequences } = this.#options;
    return new CommandError(
      `${inputName(file)} holds ${countText(held)} of ${grouped(bits)} bits, fewer than --sequences ${sequences}; lower --sequences or leave it out`,
      1,
    );
  }
}

function workerFailure(index: number, file: string, { message }: Error): CommandError {
  const where = `sequence ${grouped(index + 1)} of ${inputName(file)}`;
  return new CommandError(`the tests on ${where} failed: ${message}`, 1);
}
