/** An assessment: reads, tests and reports sequences concurrently. */
import {
  type Constants,
  KERNELS_SHA256,
  type ReadyOptions,
  ready,
  SUPPLEMENT_NAMES,
  type SuiteReport,
  type SupplementName,
  TEST_NAMES,
  type TestName,
  type TestParameters,
} from '../../../sp800-22/src/index.ts';
import { assertInteger } from '../../../sp800-22/src/result.ts';
import { type Cut, MAXIMUM_BITS, recognitionOf } from '../input/cutter.ts';
import {
  type ConsumedInput,
  type InputFormat,
  type InputSequence,
  openReader,
  type SequenceReader,
} from '../input/reader.ts';
import type { Source } from '../input/source.ts';
import { platform, type SuiteWorker } from '../platform.ts';
import { HtmlOutput } from '../report/html-output.ts';
import { makeOutput } from '../report/output.ts';
import { type AssessOutput, hasFailed, RunCounts } from '../report/summary.ts';
import { createdText, type RunTrace, type Software } from '../report/trace.ts';
import type { Assessment } from './assessment.ts';
import { AssessError } from './errors.ts';
import { type RunControl, SuiteRun } from './suite-run.ts';

/** Each gets its report in parts, as soon as they are complete; the page as a whole at the end. */
export interface Writers {
  readonly json?: (text: string) => void;
  readonly csv?: (text: string) => void;
  readonly text?: (text: string) => void;
  readonly html?: (page: string) => void;
}

export interface AssessOptions extends ReadyOptions, RunControl {
  /** Name of the input in the reports. Default: that of a file, else `input`. */
  readonly name?: string;
  /**
   * Default: binary, but an input is refused that looks like another form, such as `xz` or digits. `binary` reads each input
   * as it is.
   */
  readonly format?: InputFormat;
  /** Bits of each sequence; null: the whole input is one. Default: 2^20. */
  readonly bits?: number | null;
  /** Default: as many as the input has. */
  readonly sequences?: number;
  /** Bits of the input before the first sequence. */
  readonly offset?: number;
  /** Default: `exact`. */
  readonly constants?: Constants;
  /** Default: all. */
  readonly tests?: readonly TestName[];
  readonly parameters?: TestParameters;
  /** Tests that are not part of SP 800-22. Default: none. */
  readonly supplements?: readonly SupplementName[] | 'all';
  /** Number of workers; 0: the calling thread. Default: one for each core. */
  readonly workers?: number;
  /** Starts a worker that calls the package's worker code, such as one from a blob. */
  readonly createWorker?: () => SuiteWorker;
  readonly onReport?: (report: SuiteReport) => void;
  readonly write?: Writers;
  /** Leaves the picture of the input's bits out of the page. */
  readonly omitBits?: boolean;
  /** What the caller says about the report. */
  readonly report?: RunTrace['report'];
  /** Members of the trace on the original input, if it was decoded before. Called at the end. */
  readonly input?: () => Partial<RunTrace['input']>;
  /** The program that writes the reports, and its build. */
  readonly software?: Software;
  /** Time of creation. Default: that of the call. */
  readonly created?: string;
}

const SOFTWARE: Software = { program: 'phm-lab', build: 'phm-lab' };

/**
 * Runs the suite on every sequence of the input, with at most two sequences per worker in memory. Rejects with
 * `AssessError` if the input cannot be assessed or the run is aborted; `partial` is then the result on the finished
 * sequences. Throws `TypeError` or `RangeError` on invalid arguments.
 */
export async function assess(source: Source, options: AssessOptions = {}): Promise<Assessment> {
  const { workers = platform().cores(), format, constants = 'exact' } = options;
  const cut = toCut(options);
  assertInteger('workers', workers, 0, 1024);
  const reader = openReader(source, format, recognitionOf(cut));
  let run: SuiteRun;
  let recorder: Recorder;
  try {
    await ready(options);
    const onSequence: RunControl['onSequence'] = (sequence, i) => recorder.draw(sequence, i);
    run = new SuiteRun(reader, cut, { ...options, constants, workers, onSequence });
    recorder = new Recorder(options, cut, () => inputOf(source, options, reader, run.input));
  } catch (error) {
    // A run closes its reader itself.
    await reader.close();
    throw error;
  }
  return recordAll(run, recorder);
}

async function recordAll(run: SuiteRun, recorder: Recorder): Promise<Assessment> {
  try {
    for await (const report of run.reports()) recorder.add(report);
    return recorder.end(true);
  } catch (error) {
    if (error instanceof AssessError && run.finished > 0) error.partial = recorder.end(false);
    throw error;
  }
}

/** Checks the options on the sequences and fills in the defaults. */
function toCut(options: AssessOptions): Cut {
  const { bits = 2 ** 20, sequences = null, offset = 0, parameters = {} } = options;
  if (bits !== null) assertInteger('bits', bits, 1, MAXIMUM_BITS);
  if (sequences !== null) assertInteger('sequences', sequences, 1, Number.MAX_SAFE_INTEGER);
  assertInteger('offset', offset, 0, Number.MAX_SAFE_INTEGER);
  const { tests = TEST_NAMES, supplements = [] } = options;
  return {
    bits,
    sequences: bits === null ? 1 : sequences,
    offset,
    recognises: options.format === undefined,
    parameters,
    tests: inOrder('tests', TEST_NAMES, tests),
    supplements:
      supplements === 'all'
        ? SUPPLEMENT_NAMES
        : inOrder('supplements', SUPPLEMENT_NAMES, supplements),
  };
}

/** Returns the chosen names in the order of `names`. */
function inOrder<Name extends string>(
  option: string,
  names: readonly Name[],
  chosen: readonly Name[],
): Name[] {
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new RangeError(`"${option}" expected names from ${names.join(', ')}, got ${unknown}`);
  }
  return names.filter((name) => chosen.includes(name));
}

function inputOf(
  source: Source,
  { name, format = 'binary', offset = 0, input, software = SOFTWARE }: AssessOptions,
  reader: SequenceReader,
  consumed: ConsumedInput,
): RunTrace['input'] {
  const { program } = software;
  const ofSource = 'name' in source && typeof source.name === 'string' ? source.name : 'input';
  const read = { size: reader.sizeBytes ?? null, ...consumed, format };
  return { name: name ?? ofSource, ...read, offset_bits: offset, program, ...input?.() };
}

/** Counts the reports and hands them to the outputs. */
class Recorder {
  readonly #options: AssessOptions;
  readonly #cut: Cut;
  readonly #input: () => RunTrace['input'];
  readonly #created: string;
  readonly #counts: RunCounts;
  readonly #page: HtmlOutput | undefined;
  readonly #outputs: readonly AssessOutput[];

  constructor(options: AssessOptions, cut: Cut, input: () => RunTrace['input']) {
    this.#options = options;
    this.#cut = cut;
    this.#input = input;
    this.#created = options.created ?? createdText();
    this.#counts = new RunCounts(cut.tests);
    const { json, csv, text, html } = options.write ?? {};
    const trace = (): RunTrace => this.#trace();
    this.#page = html && new HtmlOutput(this.#head(trace), html);
    this.#outputs = [
      ...(json ? [makeOutput('json', json, trace)] : []),
      ...(csv ? [makeOutput('csv', csv, trace)] : []),
      ...(text ? [makeOutput('text', text, trace)] : []),
      ...(this.#page ? [this.#page] : []),
    ];
  }

  /** Takes a sequence before it is tested. */
  draw(sequence: InputSequence, index: number): void {
    this.#page?.draw(sequence, index);
    this.#options.onSequence?.(sequence, index);
  }

  add(report: SuiteReport): void {
    this.#counts.add(report);
    for (const output of this.#outputs) output.add(report);
    this.#options.onReport?.(report);
  }

  end(complete: boolean): Assessment {
    const summary = this.#counts.summary(complete);
    for (const output of this.#outputs) output.end(summary);
    return { summary, trace: this.#trace(), failed: hasFailed(summary) };
  }

  #head(trace: () => RunTrace): ConstructorParameters<typeof HtmlOutput>[0] {
    const { name, program } = this.#input();
    const { constants = 'exact', omitBits = false } = this.#options;
    return { input: name, program, constants, omitBits, trace };
  }

  #trace(): RunTrace {
    const { bits, sequences, tests, supplements } = this.#cut;
    const { report, software = SOFTWARE } = this.#options;
    return {
      ...(report && { report }),
      input: this.#input(),
      options: { bits, sequences, tests, supplements },
      software: {
        build: software.build,
        kernels_sha256: KERNELS_SHA256,
      },
      created: this.#created,
    };
  }
}
