/** The order of a run: reading and testing go on at once, and reports come out in the order of the sequences. */
import { described } from '../../../sp800-22/src/arguments.ts';
import type { SuiteReport } from '../../../sp800-22/src/index.ts';
import type { InputSequence } from '../input/reader.ts';
import { AssessError } from './errors.ts';

/** An `AbortSignal`. */
export interface Aborting {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listen: () => void): void;
  removeEventListener(type: 'abort', listen: () => void): void;
}

interface Run {
  /** Reads the next sequence; null after the last. */
  readonly next: () => Promise<InputSequence | null>;
  readonly test: (sequence: InputSequence) => Promise<SuiteReport>;
  /** Gets each sequence before it is tested. MUST NOT keep its bytes. */
  readonly onSequence: (sequence: InputSequence, index: number) => void;
  /** Sequences in memory. */
  readonly limit: number;
  readonly signal: Aborting | undefined;
}

/**
 * Yields the reports in the order of the sequences. An error of the input is thrown after the reports of all earlier
 * sequences, so that the same input always gives the same reports. An abort and a failed worker end the run at once.
 */
export async function* reports(run: Run): AsyncGenerator<SuiteReport> {
  const { signal } = run;
  const order = new Order(run);
  signal?.addEventListener('abort', order.onAbort);
  if (signal?.aborted) order.onAbort();
  try {
    while (!order.isOver()) {
      const report = order.take();
      if (report) yield report;
      else await order.nextChange();
    }
  } finally {
    signal?.removeEventListener('abort', order.onAbort);
  }
}

class Order {
  readonly #run: Run;
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

  constructor(run: Run) {
    this.#run = run;
  }

  /** Reports whether the run is complete. Throws the error that ended it early. */
  isOver(): boolean {
    if (this.#finished.has(this.#delivered)) return false;
    if (this.#failure) throw this.#failure;
    if (!this.#ended || this.#delivered < this.#submitted) return false;
    if (this.#ended instanceof Error) throw this.#ended;
    return true;
  }

  /** Returns the next report, if it is finished. */
  take(): SuiteReport | undefined {
    const report = this.#finished.get(this.#delivered);
    if (report) this.#finished.delete(this.#delivered++);
    return report;
  }

  /** Keeps the reader busy, and waits until something has been read, tested or aborted. */
  nextChange(): Promise<void> {
    const wanted = this.#submitted - this.#delivered < this.#run.limit;
    if (wanted && !this.#ended && !this.#reading) void this.#read();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #read(): Promise<void> {
    this.#reading = true;
    try {
      const sequence = await this.#run.next();
      if (sequence) this.#accept(sequence);
      else this.#ended = true;
    } catch (error) {
      this.#ended = toError(error);
    }
    this.#reading = false;
    this.#wake();
  }

  #accept(sequence: InputSequence): void {
    // A read in progress arrives after the run has ended.
    if (this.#failure) {
      sequence.bytes.fill(0);
      return;
    }
    try {
      this.#run.onSequence(sequence, this.#submitted);
    } catch (error) {
      sequence.bytes.fill(0);
      // What a caller's function throws is no fault of the input.
      this.#ended = error instanceof Error ? error : new Error(described(error), { cause: error });
      return;
    }
    void this.#submit(sequence);
  }

  async #submit(sequence: InputSequence): Promise<void> {
    const index = this.#submitted++;
    try {
      this.#finished.set(index, await this.#run.test(sequence));
    } catch (error) {
      const { message } = toError(error);
      const sequence = index + 1;
      const text = `the tests on sequence ${sequence} failed: ${message}`;
      this.#failure ??= new AssessError('worker', text, { sequence }, error);
    }
    this.#wake();
  }

  readonly onAbort = (): void => {
    this.#failure ??= abortError(this.#run.signal);
    this.#wake();
  };
}

/** Resolves as `work` does, unless the signal comes first. Rejects with `AssessError` if so; the work goes on. */
export async function untilAborted<T>(work: Promise<T>, signal: Aborting | undefined): Promise<T> {
  if (!signal) return work;
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(abortError(signal));
  });
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Returns the error of a run that its caller ended. */
function abortError(signal: Aborting | undefined): AssessError {
  const reason = signal?.reason;
  const text = typeof reason === 'string' || reason instanceof Error ? reason : described(reason);
  return new AssessError('aborted', `aborted: ${text}`, {}, reason);
}

/** Invalid arguments and faults of the input stay what they are; a source that fails is unreadable. */
function toError(error: unknown): Error {
  const isKnown =
    error instanceof AssessError || error instanceof RangeError || error instanceof TypeError;
  if (isKnown) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new AssessError('unreadable', text, {}, error);
}
