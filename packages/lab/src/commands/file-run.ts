/** One run of `assess` on a file: reads, tests and reports sequences concurrently. */

import { CommandError } from '../../../platform/src/commands/index.ts';
import {
  type Constants,
  grouped,
  type LongStreamReport,
  type SuiteReport,
  type SupplementName,
  TEST_NAMES,
  type TestName,
  type TestParameters,
} from '../../../sp800-22/src/index.ts';
import { AssessError } from '../assess/errors.ts';
import { type RunControl, SuiteRun } from '../assess/suite-run.ts';
import { type Cut, MAXIMUM_BITS, recognitionOf } from '../input/cutter.ts';
import type { InputFormat } from '../input/open.ts';
import type { ConsumedInput, SequenceReader } from '../input/reader.ts';
import { startWorker } from '../node.ts';
import { countText } from '../report/text.ts';
import { openInput } from './file-input.ts';
import { inputName } from './input-name.ts';
import { type InputUse, otherFormError } from './other-form.ts';

/** Longest sequence that is tested in a few milliseconds. */
const QUICK_BITS = 2 ** 20;

/** The launcher in advice, if the caller does not say how the user starts the program. */
const LAUNCHER = 'phm-lab';

export interface AssessOptions {
  /** A path, or `-` for standard input. */
  readonly file: string;
  /** By default the form that the input names itself, or binary, unless it looks like another form: that is refused. */
  readonly format?: InputFormat;
  /** How the user starts the program. */
  readonly launcher?: string;
  readonly constants: Constants;
  /** Bits of the input before the first sequence, by default 0. */
  readonly offsetBits?: number;
  /** Bits of each sequence. By default the whole file is one sequence. */
  readonly bits?: number;
  /** Number of sequences, by default as many complete ones as the file contains. Needs `bits`. */
  readonly sequences?: number;
  /** Tests to run, by default all of them. */
  readonly tests?: readonly TestName[];
  /** Parameters of the tests, by default those of the suite. */
  readonly parameters?: TestParameters;
  /** Tests that are not part of SP 800-22, by default none. */
  readonly supplements?: readonly SupplementName[];
  /** Whether long streams of all sequences are tested too. */
  readonly thorough?: boolean;
  readonly threads: number;
}

/** The input as far as it was read, and its form; its size only if it is a file. */
export type InputRead = ConsumedInput &
  Pick<SequenceReader, 'sizeBytes' | 'format'> & {
    /** Signs that the input is no stream of bits. */
    readonly hints?: readonly string[];
  };

export function readOf(
  reader: SequenceReader,
  consumed: ConsumedInput = reader.consumed(),
): InputRead {
  return { ...consumed, sizeBytes: reader.sizeBytes, format: reader.format };
}

export interface AssessControl extends RunControl {
  /** Ends the run at once and reports the finished part. The message quotes its reason. */
  readonly signal?: AbortSignal;
  /** Gets the input as it was read, before the outputs end. */
  readonly onInputRead?: (input: InputRead) => void;
  /** Replaces the worker in tests. */
  readonly workerUrl?: URL;
}

/** Opens the input. Throws `CommandError` if it cannot be opened. The caller MUST call `reports` once. */
export async function openRun(options: AssessOptions, control: AssessControl): Promise<AssessRun> {
  const { file, format } = options;
  const use = { ...useOf(options), ...recognitionOf(toCut(options)) };
  const reader = await openInput(file, format, use);
  return new AssessRun(options, control, reader);
}

class AssessRun {
  readonly #options: AssessOptions;
  readonly #control: AssessControl;
  readonly #reader: SequenceReader;
  readonly #run: SuiteRun;

  constructor(options: AssessOptions, control: AssessControl, reader: SequenceReader) {
    this.#options = options;
    this.#control = control;
    this.#reader = reader;
    const { workerUrl } = control;
    const workers = isQuick(options) && !workerUrl ? 0 : options.threads;
    this.#run = new SuiteRun(reader, toCut(options), {
      ...control,
      constants: options.constants,
      workers,
      createWorker: () => startWorker(workerUrl),
    });
  }

  /** As `SuiteRun` has it, with the size of a file. */
  get input(): InputRead {
    const { input, hints } = this.#run;
    return { ...readOf(this.#reader, input), hints };
  }

  get streamReports(): readonly LongStreamReport[] | undefined {
    return this.#run.streamReports;
  }

  /** Yields the reports as `SuiteRun` does. Throws `CommandError`. */
  async *reports(): AsyncGenerator<SuiteReport> {
    try {
      yield* this.#run.reports();
    } catch (error) {
      throw this.#commandError(error);
    }
  }

  /** Returns the error with the names of the input and of the options. */
  #commandError(error: unknown): unknown {
    if (error instanceof RangeError) return new CommandError(error.message, 2);
    if (!(error instanceof AssessError)) return error;
    // A refusal of the input, which `reports` takes for a fault of the source.
    if (error.cause instanceof CommandError) return error.cause;
    const { file } = this.#options;
    if (error.figures.form) {
      return otherFormError(file, error.figures, useOf(this.#options));
    }
    if (error.code !== 'aborted') return new CommandError(messageOf(error, this.#options), 1);
    const none = this.#run.finished === 0 ? ' before a sequence was finished' : '';
    return new CommandError(`${this.#control.signal?.reason}${none}`, 1);
  }
}

/**
 * Reports whether one thread is enough and no sequence takes long: then this thread tests them itself, and the pool lets
 * it see Ctrl-C between two sequences. A worker would take longer (measured, bench/assess.ts).
 */
function isQuick({
  threads,
  bits = Number.POSITIVE_INFINITY,
  parameters = {},
  thorough = false,
}: AssessOptions): boolean {
  const quick = bits <= QUICK_BITS && Object.keys(parameters).length === 0 && !thorough;
  return threads === 1 && quick;
}

function useOf({ launcher = LAUNCHER }: AssessOptions): InputUse {
  return { launcher, words: 'assess' };
}

function toCut({
  format,
  offsetBits = 0,
  bits,
  sequences,
  tests,
  supplements = [],
  thorough = false,
  parameters = {},
}: AssessOptions): Cut {
  return {
    offset: offsetBits,
    bits: bits ?? null,
    sequences: bits === undefined ? 1 : (sequences ?? null),
    tests: tests ?? TEST_NAMES,
    supplements,
    thorough,
    parameters,
    recognises: format === undefined,
  };
}

function messageOf({ code, figures, message, cause }: AssessError, options: AssessOptions): string {
  const { file, bits, offsetBits = 0, sequences, tests } = options;
  const { expected = 0, got = 0, sequence } = figures;
  const name = inputName(file);
  const afterOffset = offsetBits === 0 ? '' : ` after --offset ${offsetBits}`;
  switch (code) {
    case 'empty':
      return `${name} ${offsetBits === 0 ? 'is empty' : `contains no bits${afterOffset}`}`;
    case 'too-many-bits':
      return `${name} contains more than ${grouped(MAXIMUM_BITS)} bits${afterOffset}; use --bits to cut it into sequences`;
    case 'too-few-sequences':
      return `${name} contains ${countText(got)} of ${grouped(bits ?? 0)} bits${afterOffset}, fewer than --sequences ${sequences}; lower --sequences or leave it out`;
    case 'too-few-bits': {
      if (bits !== undefined && got < bits) {
        return `${name} contains ${grouped(got)} bits${afterOffset}, fewer than --bits ${bits}; lower --bits or leave it out`;
      }
      const which = tests ? 'of the selected tests' : 'test';
      if (bits !== undefined) {
        return `--bits ${bits} is too few for any ${which}; at least ${expected} are needed`;
      }
      return `${name} gives ${grouped(got)} bits, too few for any ${which}; at least ${grouped(expected)} are needed`;
    }
    case 'worker':
      return `the tests on ${sequence ? `sequence ${grouped(sequence)}` : 'a long stream'} of ${name} failed: ${(cause as Error).message}`;
    default:
      return message;
  }
}
