/** The options of `assess`, and what it accepts for each. A new one is a member of `AssessOptions` and of `OPTIONS`. */
import {
  assertObject,
  assertOptions,
  type Check,
  callback,
  flag,
  integer,
  type Members,
  options,
  orNull,
  text,
  wrongType,
} from '../../../sp800-22/src/arguments.ts';
import {
  type Constants,
  READY_OPTIONS,
  type ReadyOptions,
  SUITE_OPTIONS,
  type SuiteReport,
  type SupplementName,
  TEST_NAMES,
  type TestName,
  type TestParameters,
} from '../../../sp800-22/src/index.ts';
import { MAXIMUM_BITS } from '../input/cutter.ts';
import type { InputFormat } from '../input/open.ts';
import { parseFormat } from '../input/readers/table.ts';
import type { SuiteWorker } from '../platform.ts';
import { checkFields, REPORT_FIELDS, type ReportFields } from '../report/identity.ts';
import type { RunTrace, Software } from '../report/trace.ts';
import type { Aborting } from './order.ts';
import type { RunControl } from './suite-run.ts';

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
   * Such as `binary`, `hex`, `u16le:0-7`, `csv:2:8` or `gzip:ascii`. Default: an input that names its own form, such as Intel
   * HEX, is read by it; one that looks like another form, such as `xz` or digits, is refused; others are binary. `binary` reads
   * each input as it is.
   */
  readonly format?: InputFormat;
  /** Bits of each sequence; null: the whole input is one. Default: 2^20. */
  readonly bits?: number | null;
  /** Default, and null: as many as the input has. */
  readonly sequences?: number | null;
  /** Bits of the input before the first sequence. */
  readonly offset?: number;
  /** Default: `exact`. */
  readonly constants?: Constants;
  /** Default: all. */
  readonly tests?: readonly TestName[];
  readonly parameters?: TestParameters;
  /** Tests that are not part of SP 800-22. Default: none. */
  readonly supplements?: readonly SupplementName[] | 'all';
  /**
   * Also runs all supplements, unless some are named, and tests the sequences one after another as long streams. Default: no.
   * Without workers, an abort waits for the end of a stream.
   */
  readonly thorough?: boolean;
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

const MOST_WORKERS = 1024;

const WRITERS: Members<Writers> = { json: callback, csv: callback, text: callback, html: callback };

/** The texts of a report. */
const FIELDS: Members<ReportFields> = Object.fromEntries(
  REPORT_FIELDS.map(([field]) => [field, text]),
) as unknown as Members<ReportFields>;

const reportFields: Check = (name, value) => {
  assertOptions(name, value, FIELDS);
  checkFields(value as ReportFields);
};

/** Two realms have two classes of signals. */
const abortSignal: Check = (name, value) => {
  const { aborted, addEventListener, removeEventListener } = (value ?? {}) as Partial<Aborting>;
  const listens = [addEventListener, removeEventListener].every((one) => typeof one === 'function');
  if (typeof aborted !== 'boolean' || !listens) throw wrongType(name, 'an AbortSignal', value);
};

const OPTIONS: Members<AssessOptions> = {
  name: text,
  format: (name, value) => {
    text(name, value);
    parseFormat(value as string);
  },
  bits: orNull(integer(1, MAXIMUM_BITS)),
  sequences: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  offset: integer(0, Number.MAX_SAFE_INTEGER),
  constants: SUITE_OPTIONS.constants,
  tests: SUITE_OPTIONS.only,
  parameters: SUITE_OPTIONS.parameters,
  supplements: SUITE_OPTIONS.supplements,
  thorough: flag,
  workers: integer(0, MOST_WORKERS),
  createWorker: callback,
  ...READY_OPTIONS,
  onReport: callback,
  onSequence: callback,
  onProgress: callback,
  write: options(WRITERS),
  omitBits: flag,
  report: reportFields,
  input: callback,
  software: (name, value) => {
    assertOptions(name, value, { program: text, build: text });
    assertObject(name, value, 'program', 'build');
  },
  created: text,
  signal: abortSignal,
};

/** Throws `TypeError` on an unknown option or one of another type, and `RangeError` on one out of range. */
export function checkOptions(given: unknown): void {
  assertOptions('options', given, OPTIONS);
  const { tests = TEST_NAMES, supplements: others = [] } = (given ?? {}) as AssessOptions;
  if (tests.length > 0 || others.length > 0) return;
  throw new RangeError('"tests" expected at least one test or supplement, got none');
}
