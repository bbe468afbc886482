/** An assessment: reads, tests and reports sequences concurrently. */
import {
  KERNELS_SHA256,
  type LongStreamReport,
  type ReadyOptions,
  ready,
  resolveParameters,
  SUPPLEMENT_NAMES,
  type SuiteReport,
  TEST_NAMES,
} from '../../../sp800-22/src/index.ts';
import { type Cut, recognitionOf } from '../input/cutter.ts';
import type { Source } from '../input/kinds.ts';
import { openReader } from '../input/open.ts';
import type { InputSequence, SequenceReader } from '../input/reader.ts';
import { platform } from '../platform.ts';
import { HtmlOutput } from '../report/html-output.ts';
import { makeOutput } from '../report/output.ts';
import { type AssessOutput, hasFailed, RunCounts } from '../report/summary.ts';
import { createdText, type RunTrace, type Software } from '../report/trace.ts';
import type { Assessment } from './assessment.ts';
import { AssessError } from './errors.ts';
import { type AssessOptions, checkOptions } from './options.ts';
import { untilAborted } from './order.ts';
import { type RunControl, SuiteRun } from './suite-run.ts';

const SOFTWARE: Software = { program: 'phm-lab', build: 'phm-lab' };

/**
 * Runs the suite on every sequence of the input, with at most two sequences per worker in memory. Rejects with
 * `AssessError` if the input cannot be assessed or the run is aborted; `partial` is then the result on the finished
 * sequences. Throws `TypeError` or `RangeError` on invalid arguments.
 */
export async function assess(source: Source, options: AssessOptions = {}): Promise<Assessment> {
  checkOptions(options);
  const { workers = platform().cores(), format, constants = 'exact', signal } = options;
  const cut = toCut(options);
  const reader = openReader(source, format, recognitionOf(cut));
  let run: SuiteRun;
  let recorder: Recorder;
  try {
    await untilAborted(ready(kernelsOf(options)), signal);
    const onSequence: RunControl['onSequence'] = (sequence, i) => recorder.draw(sequence, i);
    run = new SuiteRun(reader, cut, { ...options, constants, workers, onSequence });
    recorder = new Recorder(options, cut, () => inputOf(source, options, reader, run));
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
    if (run.streamReports) recorder.addStreams(run.streamReports);
    return recorder.end(true);
  } catch (error) {
    // What a damaged gzip held before may be wrong.
    const isSound = error instanceof AssessError && error.code !== 'damaged';
    if (isSound && run.finished > 0) error.partial = recorder.end(false);
    throw error;
  }
}

/** Fills in the defaults of the options on the sequences. */
function toCut(options: AssessOptions): Cut {
  const { bits = 2 ** 20, sequences = null, offset = 0, parameters = {} } = options;
  // Without a length, a bound that depends on it is checked later.
  resolveParameters(bits ?? 0, parameters);
  const { tests = TEST_NAMES, thorough = false } = options;
  const { supplements = thorough ? 'all' : [] } = options;
  return {
    bits,
    sequences: bits === null ? 1 : sequences,
    offset,
    recognises: options.format === undefined,
    parameters,
    tests: TEST_NAMES.filter((name) => tests.includes(name)),
    supplements:
      supplements === 'all'
        ? SUPPLEMENT_NAMES
        : SUPPLEMENT_NAMES.filter((name) => supplements.includes(name)),
    thorough,
  };
}

function kernelsOf({ kernels }: AssessOptions): ReadyOptions {
  return kernels === undefined ? {} : { kernels };
}

function inputOf(
  source: Source,
  { name, offset = 0, input, software = SOFTWARE }: AssessOptions,
  reader: SequenceReader,
  run: SuiteRun,
): RunTrace['input'] {
  const { program } = software;
  const ofSource = 'name' in source && typeof source.name === 'string' ? source.name : 'input';
  const read = { size: reader.sizeBytes ?? null, ...run.input, format: reader.format };
  const hints = run.hints.length > 0 && { hints: run.hints };
  return { name: name ?? ofSource, ...read, offset_bits: offset, program, ...hints, ...input?.() };
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
    this.#counts = new RunCounts(cut.tests, cut.offset);
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
    this.#counts.take(sequence, index);
    this.#page?.draw(sequence, index);
    this.#options.onSequence?.(sequence, index);
  }

  add(report: SuiteReport): void {
    this.#counts.add(report);
    for (const output of this.#outputs) output.add(report);
    this.#options.onReport?.(report);
  }

  addStreams(reports: readonly LongStreamReport[]): void {
    this.#counts.addStreams(reports);
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
    const { bits, sequences, tests, supplements, thorough } = this.#cut;
    const { report, software = SOFTWARE } = this.#options;
    return {
      ...(report && { report }),
      input: this.#input(),
      options: { bits, sequences, tests, supplements, ...(thorough && { thorough }) },
      software: {
        build: software.build,
        kernels_sha256: KERNELS_SHA256,
      },
      created: this.#created,
    };
  }
}
