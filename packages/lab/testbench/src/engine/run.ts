/** Runs the suite on a file with the package's `assess`, and collects its reports and what the page shows of them. */

import type { SuiteReport, TestName } from '../../../../sp800-22/src/index.ts';
import {
  AssessError,
  type AssessOptions,
  type AssessSummary,
  assess,
  type InputSequence,
} from '../../../src/index.ts';
import { PROGRAM, SOFTWARE } from './build-facts.ts';
import type { RunProgress, RunRequest, RunResult, TestProgress } from './messages.ts';
import { TextFile } from './text-file.ts';

/** Bytes of the first sequence that the page shows. */
const HEAD_BYTES = 2 ** 18;

const PROGRESS_MS = 100;

interface RunControl {
  readonly startWorker: NonNullable<AssessOptions['createWorker']>;
  readonly onProgress: (progress: RunProgress) => void;
  /** Ends the run. Its reason stands in the result. */
  readonly signal: AbortSignal;
}

/** Rejects if no sequence was finished, or if the file is a gzip that cannot be decompressed as a whole. */
export async function runSuite(request: RunRequest, control: RunControl): Promise<RunResult> {
  const { file } = request;
  const started = performance.now();
  const files = newFiles();
  const shown = new Shown(control.onProgress);
  const result = (summary: AssessSummary, ended: string | null): RunResult => {
    shown.end();
    const { bits, head } = shown;
    const milliseconds = performance.now() - started;
    return { kind: 'result', summary, ended, bits, milliseconds, head, files: blobsOf(files) };
  };
  try {
    const { summary } = await assess(file, {
      ...optionsOf(request),
      signal: control.signal,
      createWorker: control.startWorker,
      onSequence: (sequence, index) => index === 0 && shown.begin(sequence),
      onReport: (report) => shown.add(report),
      onProgress: ({ finished, expected }) => shown.progress(finished, expected ?? null),
      write: {
        json: files.json.write,
        csv: files.csv.write,
        html: files.html.write,
        text: files.text.write,
      },
    });
    return result(summary, null);
  } catch (error) {
    // A part of a gzip would look like a file of that length, and its checksum was not compared.
    if (!(error instanceof AssessError) || error.code === 'damaged') throw error;
    const isAborted = error.code === 'aborted';
    if (error.partial) {
      const reason = isAborted ? String(control.signal.reason) : error.message;
      return result(error.partial.summary, reason);
    }
    throw isAborted ? new Error('Cancelled: no sequence was finished.') : error;
  }
}

function optionsOf({ file, options }: RunRequest): AssessOptions {
  const { format, offset, bits, sequences, constants, supplements, thorough, workers } = options;
  const { tests, parameters, report, omitBits } = options;
  return {
    name: file.name,
    format,
    offset,
    bits,
    ...(sequences !== null && { sequences }),
    constants,
    tests,
    parameters,
    supplements: supplements ? 'all' : [],
    thorough,
    workers,
    report,
    omitBits,
    software: { program: PROGRAM, build: SOFTWARE },
  };
}

function newFiles(): Record<'json' | 'csv' | 'html' | 'text', TextFile> {
  return {
    json: new TextFile('application/json'),
    csv: new TextFile('text/csv'),
    html: new TextFile('text/html'),
    text: new TextFile('text/plain'),
  };
}

function blobsOf({ json, csv, html, text }: ReturnType<typeof newFiles>): RunResult['files'] {
  return { json: json.blob(), csv: csv.blob(), html: html.blob(), text: text.blob() };
}

/** What the page shows of a run. */
class Shown {
  readonly #onProgress: RunControl['onProgress'];
  readonly #tests = new Map<TestName, TestProgress>();
  #shownMs = 0;
  #finished = 0;
  #expected: number | null = null;
  head = new Uint8Array(0);
  bits = 0;

  constructor(onProgress: RunControl['onProgress']) {
    this.#onProgress = onProgress;
  }

  begin({ bytes, bits }: InputSequence): void {
    this.bits = bits;
    this.head = bytes.slice(0, Math.min(HEAD_BYTES, bits >>> 3));
  }

  add({ tests }: SuiteReport): void {
    for (const outcome of tests) {
      const { name } = outcome;
      const before = this.#tests.get(name) ?? { name, applicable: 0, passed: 0, smallest: 1 };
      const after = outcome.applicable && {
        applicable: before.applicable + 1,
        passed: before.passed + Number(outcome.passed),
        smallest: Math.min(before.smallest, ...outcome.pValues),
      };
      this.#tests.set(name, { ...before, ...after });
    }
  }

  progress(finished: number, expected: number | null): void {
    this.#finished = finished;
    this.#expected = expected;
    const nowMs = performance.now();
    if (nowMs - this.#shownMs < PROGRESS_MS) return;
    this.#shownMs = nowMs;
    this.end();
  }

  /** Shows what the report has, however short the time since the last progress. */
  end(): void {
    const tests = [...this.#tests.values()];
    const [finished, expected] = [this.#finished, this.#expected];
    this.#onProgress({ kind: 'progress', finished, expected, tests });
  }
}
