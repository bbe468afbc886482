/** What a report was made from and by, so that it can be traced: the same facts in JSON, text, CSV and the page. */
import {
  resolveParameters,
  SUPPLEMENT_NAMES,
  type SuiteReport,
  type SupplementName,
  TEST_NAMES,
  type TestName,
  toAssessReport,
} from '../../../sp800-22/src/index.ts';
import { fieldRows, type ReportFields, reportId } from './identity.ts';
import type { AssessSummary } from './summary.ts';

/** The members have the names of the JSON. */
export interface RunTrace {
  /** What the caller says about the report. */
  readonly report?: ReportFields;
  readonly input: {
    readonly name: string;
    /** Size of the file in bytes; null for a pipe or a device. */
    readonly size: number | null;
    /** Bytes read, from the start of the input, and their digest. */
    readonly bytes: number;
    readonly sha256: string;
    readonly format: string;
    /** Bits of the input before the first sequence. */
    readonly offset_bits: number;
    readonly program: string;
    /** Signs that the input is no stream of bits; left out if there are none. */
    readonly hints?: readonly string[];
  };
  readonly options: {
    /** Null: the whole input is one sequence. */
    readonly bits: number | null;
    /** Null: as many as the input has. */
    readonly sequences: number | null;
    readonly tests: readonly TestName[];
    readonly supplements: readonly SupplementName[];
    /** Only if long streams were tested. */
    readonly thorough?: true;
  };
  readonly software: {
    /** Name of the installed program, with the digest of its sources. */
    readonly build: string;
    /** Digests of the builds of the kernels. The engine chooses one; all give the same results. */
    readonly kernels_sha256: readonly string[];
  };
  /** Time of creation, the only member that differs between two runs on the same input with the same options. */
  readonly created: string;
}

/** The program that writes a report, and its build. */
export interface Software {
  /** Name and version. */
  readonly program: string;
  /** Name of the installed program, with a digest of its files. */
  readonly build: string;
}

/** Returns a time of creation: to the second, in UTC. */
export function createdText(ms: number = Date.now()): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** A fact of a trace, for people. */
export type TraceRow = readonly [name: string, value: string];

/** Returns the trace once the run has ended. */
export type TraceSource = () => RunTrace;

/** What was finished of the run. */
export type Finished = Pick<AssessSummary, 'sequences' | 'complete'>;

/** Members that a JSON report has besides its results. */
export interface TraceJson {
  readonly report: ReportFields & { readonly id: string };
  readonly input: RunTrace['input'];
  readonly options: object;
  readonly software: RunTrace['software'];
  readonly created: string;
}

/** Returns the members. `suiteReport` is that of any sequence. */
export function traceJson(
  { report = {}, input, options, software, created }: RunTrace,
  { bits, constants, parameters }: SuiteReport,
  { sequences, complete }: Finished,
): TraceJson {
  const settings = { ...options, constants, parameters: resolveParameters(bits, parameters) };
  const finished = { sequences, complete };
  const id = reportId(input.sha256, { report, input, options: settings, software, finished });
  return { report: { id, ...report }, input, options: settings, software, created };
}

/** Returns the trace as names and values, each on one line. `suiteReport` is that of any sequence. */
export function traceRows(
  trace: RunTrace,
  suiteReport: SuiteReport,
  finished: Finished,
): TraceRow[] {
  const { report, input, software, created } = traceJson(trace, suiteReport, finished);
  const { bits, sequences, tests, supplements } = trace.options;
  const length = bits === null ? 'the whole input' : `${bits} bits`;
  const count = bits === null ? 1 : (sequences ?? 'all');
  return [
    ...identityRows(report, input),
    ['Offset', `${input.offset_bits} bits`],
    ['Sequence', length],
    ['Sequences', String(count)],
    ['Bits tested', testedText(input, suiteReport.bits * finished.sequences)],
    ...hintRows(input.hints),
    ['Tests', namesText(tests, TEST_NAMES)],
    ['Supplements', namesText(supplements, SUPPLEMENT_NAMES)],
    ...(trace.options.thorough ? [['Long streams', 'tested'] as const] : []),
    ['Constants', suiteReport.constants],
    ['Parameters', parametersText(suiteReport)],
    ['Program', `${input.program}, ${software.build}`],
    ['Kernels', `SHA-256 ${software.kernels_sha256.join(' or ')}, which give the same results`],
    ['Created', created],
  ];
}

/** What a trace says of the input that was read. */
type ReadInput = Pick<RunTrace['input'], 'size' | 'bytes' | 'sha256' | 'format'>;

/** Returns the rows with which a trace begins that has an identification: what names the report, and its input. */
export function identityRows(
  report: TraceJson['report'],
  input: ReadInput & Pick<RunTrace['input'], 'name'>,
): TraceRow[] {
  return [
    ['Report', report.id],
    ...fieldRows(report),
    ['Input', input.name.replace(/\p{Cc}/gu, '\ufffd')],
    ...readRows(input),
  ];
}

/** Returns the rows on the input. */
export function readRows({ size, bytes, sha256, format }: ReadInput): TraceRow[] {
  return [
    ['Size', size === null ? 'not known' : `${size} ${size === 1 ? 'byte' : 'bytes'}`],
    ['Bytes read', String(bytes)],
    ['SHA-256 of the bytes read', sha256],
    ['Format', format],
  ];
}

export function hintRows(hints: readonly string[] = []): TraceRow[] {
  return hints.map((hint) => ['Hint', hint]);
}

/** Returns the rows with which a trace ends. */
export function programRows({ program, build }: Software, created: string): TraceRow[] {
  return [
    ['Program', `${program}, ${build}`],
    ['Created', created],
  ];
}

/** Returns the range of the tested bits in the input. What follows them is known of binary input only. */
export function testedText(
  { format, size, bytes, offset_bits: from }: RunTrace['input'],
  tested: number,
): string {
  const range = `${from} to ${from + tested - 1}`;
  const rest = 8 * (size ?? bytes) - from - tested;
  if (format !== 'binary') return range;
  return rest === 0
    ? `${range}, the end of the input`
    : `${range}; ${rest} after them are not tested`;
}

function namesText(names: readonly string[], all: readonly string[]): string {
  if (names.length === 0) return 'none';
  return names.length === all.length ? 'all' : names.join(', ');
}

/** Returns the parameters of each test that has any, without the class probabilities. */
function parametersText(report: SuiteReport): string {
  const { tests } = toAssessReport(report);
  const texts = tests.map(({ name, parameters }) => {
    const values = Object.entries(parameters).filter(([symbol]) => symbol !== 'pi');
    return [
      name,
      ...values.map(([symbol, value]) => `${symbol} = ${[value].flat().join(' and ')}`),
    ];
  });
  const named = texts
    .filter((words) => words.length > 1)
    .map(([name, ...values]) => `${name} ${values.join(', ')}`);
  return named.length === 0 ? 'none' : named.join('; ');
}
