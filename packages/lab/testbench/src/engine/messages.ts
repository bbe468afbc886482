/** What the page and its workers say to each other. */

import type { Constants, TestName, TestParameters } from '../../../../sp800-22/src/index.ts';
import type { AssessSummary, ReportFields } from '../../../src/index.ts';

export interface RunOptions {
  /** As `phm assess --format` takes it. */
  readonly format: string;
  readonly constants: Constants;
  readonly tests: readonly TestName[];
  readonly parameters: TestParameters;
  /** Whether the tests run that are not part of SP 800-22. */
  readonly supplements: boolean;
  /** Whether long streams of all sequences are tested too. */
  readonly thorough: boolean;
  /** Texts of a laboratory. */
  readonly report: ReportFields;
  /** Leaves the picture of the bits out of the HTML. */
  readonly omitBits: boolean;
  /** Bits of the input before the first sequence. */
  readonly offset: number;
  /** Null: the whole input is one sequence. */
  readonly bits: number | null;
  /** Null: as many as the input has. */
  readonly sequences: number | null;
  readonly workers: number;
}

/** To the worker that runs the suite on a file. */
export interface RunRequest {
  readonly file: File;
  readonly options: RunOptions;
}

/** From the worker of a run: the page starts a suite worker, which gets the order. */
export interface SuiteOrder {
  readonly kind: 'suite';
  /** Counts from 0. */
  readonly worker: number;
  /** The end of the channel for the suite worker. */
  readonly port: MessagePort;
  /**
   * The first message to the suite worker. It holds a WebAssembly module, which Chromium hands to workers, but not
   * through a channel between two workers of a page from a file.
   */
  readonly first: unknown;
}

/** To the worker of a run: a suite worker failed. */
export interface SuiteFailure {
  readonly kind: 'suite failure';
  readonly worker: number;
  readonly message: string;
}

export interface TestProgress {
  readonly name: TestName;
  readonly applicable: number;
  readonly passed: number;
  readonly smallest: number;
}

export interface RunProgress {
  readonly kind: 'progress';
  readonly finished: number;
  /** Null as long as the number of sequences is not known. */
  readonly expected: number | null;
  readonly tests: readonly TestProgress[];
}

export interface RunResult {
  readonly kind: 'result';
  readonly summary: AssessSummary;
  /** Why the run ended early; null if it is complete. */
  readonly ended: string | null;
  readonly bits: number;
  readonly milliseconds: number;
  readonly files: Readonly<Record<'json' | 'csv' | 'html' | 'text', Blob>>;
  /** The first bits of the first sequence. */
  readonly head: Uint8Array;
}

export interface Failure {
  readonly kind: 'failure';
  readonly message: string;
}

/** Samples of an estimate. SP 800-90B §3.1.1 asks for so many; more would take minutes. */
export const MAX_SAMPLES = 1_000_000;

/** Bits of the widest sample that the estimators take. */
export const MAX_WIDTH = 8;

/** What the samples of an estimate are. `whole`: the samples of a file of samples, and the bytes of any other. */
export type Samples = 'whole' | 'bits';

export interface EntropyRequest {
  readonly file: File;
  readonly format: string;
  /** Bits of the input before the first sample. */
  readonly offset: number;
  readonly samples: Samples;
  /** Bits of a sample, if they are chosen. */
  readonly width: number | null;
  /** Texts of a laboratory. */
  readonly report: ReportFields;
}

export interface EntropyProgress {
  readonly kind: 'progress';
  readonly finished: number;
  readonly total: number;
  readonly estimator: string;
}

export interface EntropyResult {
  readonly kind: 'entropy';
  /** Which samples there are, and whether they are enough. */
  readonly notes: readonly string[];
  readonly text: string;
  readonly json: string;
  readonly html: string;
}
