/**
 * The functions of the package that make texts, pages and records, with a check of their arguments. Within the package they
 * are called as they are: the compiler has checked those calls.
 */
import {
  assertInteger,
  assertName,
  assertNumber,
  assertObject,
  assertRows,
  assertUint8Array,
  type Check,
  callback,
  flag,
  text,
  wrongType,
} from '../../sp800-22/src/arguments.ts';
import * as estimators from './entropy/estimators.ts';
import * as iid from './entropy/iid.ts';
import * as nonIid from './entropy/non-iid.ts';
import * as reports from './entropy/report.ts';
import * as restarts from './entropy/restarts.ts';
import * as entropyTraces from './entropy/trace.ts';
import * as warnings from './entropy/warnings.ts';
import * as input from './input/input-format.ts';
import * as readers from './input/reader.ts';
import * as recognising from './input/recognising.ts';
import * as identity from './report/identity.ts';
import * as nist from './report/nist-report.ts';
import * as outputs from './report/output.ts';
import * as summaries from './report/summary.ts';
import * as paragraph from './report/text.ts';
import * as traces from './report/trace.ts';

/** The check of one argument. */
type Argument = readonly [name: string, check: Check];

/** Returns the function with a check of its arguments. */
function checked<Call extends (...args: never[]) => unknown>(
  call: Call,
  ...checks: readonly Argument[]
): Call {
  const withChecks = (...args: never[]): unknown => {
    for (const [i, [name, check]] of checks.entries()) check(name, args[i]);
    return call(...args);
  };
  return withChecks as Call;
}

function object(name: string, ...members: readonly string[]): Argument {
  return [name, (given, value) => assertObject(given, value, ...members)];
}

function rows(name: string, ...members: readonly string[]): Argument {
  return [name, (given, value) => assertRows(given, value, ...members)];
}

function optional([name, check]: Argument): Argument {
  return [name, (given, value) => value === undefined || check(given, value)];
}

const count: Check = (name, value) => assertInteger(name, value, 0, Number.MAX_SAFE_INTEGER);

const figure: Check = (name, value) =>
  assertNumber(name, value, 'a number from 0', (one) => one >= 0 && one < Infinity);

const texts: Check = (name, value) => {
  if (!Array.isArray(value)) throw wrongType(name, 'an array of strings', value);
  for (const one of value as readonly unknown[]) text(`${name}[]`, one);
};

const paragraphs: Check = (name, value) => {
  if (!Array.isArray(value)) throw wrongType(name, 'an array of paragraphs', value);
  for (const lines of value as readonly unknown[]) texts(`${name}[]`, lines);
};

/** Other members are not looked at. */
const fieldTexts: Check = (name, value) => {
  assertObject(name, value);
  for (const [field] of identity.REPORT_FIELDS) {
    const given: unknown = (value as identity.ReportFields)[field];
    if (given !== undefined) text(`${name}.${field}`, given);
  }
};

const assessment = object('assessment', 'samples', 'bitsPerSymbol', 'literal', 'hOriginal');
const conditioned = object('assessment', 'samples', 'bitsPerSymbol', 'bitstring', 'hPrime');
const restart = object('assessment', 'sanityCheck', 'rows', 'columns', 'validationPassed');
const iidAssessment = object('assessment', 'samples', 'literal', 'hOriginal', 'tests');
const iidRestart = object('assessment', 'sanityCheck', 'rowTests', 'columnTests', 'isIid');
const hSubmitter = optional(['hSubmitter', figure]);
const report = object('report', 'bits', 'constants', 'parameters', 'tests');
const trace = object('trace', 'input', 'options', 'software', 'created');
const finished = object('finished', 'sequences', 'complete');
const head: Argument = ['head', assertUint8Array];

export const formWarning = checked(warnings.formWarning, ['name', text], object('form', 'says'), [
  'packed',
  flag,
]);
export const nonIidReport = checked(nonIid.nonIidReport, assessment, hSubmitter);
export const conditionedReport = checked(nonIid.conditionedReport, conditioned);
export const restartReport = checked(restarts.restartReport, restart, hSubmitter);
export const iidReport = checked(iid.iidReport, iidAssessment, hSubmitter);
export const iidRestartReport = checked(iid.iidRestartReport, iidRestart, hSubmitter);
export const entropyForms = checked(
  reports.entropyForms,
  object('trace', 'report', 'input', 'options', 'software', 'created'),
  object('report', 'text', 'json', 'claim', 'page'),
  ['warnings', texts],
);
export const fewPairsWarning = checked(warnings.fewPairsWarning, ['samples', assertUint8Array]);
export const estimatorText = checked(
  estimators.estimatorText,
  object('progress', 'estimator', 'input', 'finished', 'total'),
);
export const tooFewWarning = checked(warnings.tooFewWarning, ['samples', count]);
export const entropyTrace = checked(
  entropyTraces.entropyTrace,
  object('run', 'report', 'input', 'flags', 'build', 'created'),
);
export const guessFormat = checked(input.guessFormat, head);
export const recogniseForm = checked(input.recogniseForm, head);
export const skipBits = checked(readers.skipBits, object('reader', 'readSequence'), [
  'bits',
  count,
]);
export const refuseForm = checked(recognising.refuseForm, head, optional(object('recognition')));
export const checkFields = checked(identity.checkFields, ['fields', fieldTexts]);
export const formatNistReport = checked(
  nist.formatNistReport,
  ['name', text],
  rows('rows', 'test', 'sequences', 'passes', 'histogram'),
);
export const makeOutput = checked(
  outputs.makeOutput,
  ['kind', (name, value) => assertName(name, value, ['text', 'json', 'csv'])],
  ['write', callback],
  optional(['trace', callback]),
);
export const hasFailed = checked(summaries.hasFailed, object('summary', 'sequences', 'passed'));
export const textOf = checked(paragraph.textOf, ['paragraphs', paragraphs]);
export const createdText = checked(
  traces.createdText,
  optional([
    'ms',
    (name, value) =>
      assertNumber(name, value, 'milliseconds since 1970', (ms) => Math.abs(ms) <= LAST_DAY_MS),
  ]),
);
export const traceJson = checked(traces.traceJson, trace, report, finished);
export const traceRows = checked(traces.traceRows, trace, report, finished);

/** ECMA-262: the last time of a `Date`. */
const LAST_DAY_MS = 8.64e15;
