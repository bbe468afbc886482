/** The report of `phm assess-ais31`. */

import type {
  ElementaryTest,
  ProcedureResult,
  ProcedureRun,
  SuiteResult,
} from '../../../ais-20-31/src/index.ts';
import { grouped } from '../../../sp800-22/src/index.ts';
import type { InputRead } from '../commands/file-run.ts';
import { MAXIMUM_BITS } from '../input/cutter.ts';
import type { Report } from '../report/model.ts';
import { alignColumns, type Paragraph, resultText } from '../report/text.ts';
import { hintRows, programRows, readRows, type Software, type TraceRow } from '../report/trace.ts';
import { type Edition, editionOf } from './editions.ts';

/** The input of a run, and the time at which the run began. */
interface AisFacts {
  readonly file: string;
  readonly bits: number;
  /** Bits of a random number, for procedure A. */
  readonly width: number;
  /** The bytes that have these bits. */
  readonly input: InputRead;
  readonly created: string;
  readonly software: Software;
}

type AisResult = ProcedureResult | SuiteResult;

function verdictText({ verdict, runs }: AisResult, bits: number): string {
  if (verdict !== 'undecided') return resultText(verdict === 'passed');
  const failed = runs.flatMap(({ tests }) => tests.filter(({ passed }) => !passed));
  const tests = failed.map(({ name, on }) => `, and ${name} on ${on} FAILED`);
  return `undecided${tests.join('')}: ${endText(runs[runs.length - 1], bits)}`;
}

function endText({ stopped, reason }: ProcedureRun, bits: number): string {
  if (reason !== undefined) return reason;
  const ends =
    bits === MAXIMUM_BITS
      ? `more than the ${grouped(bits)} bits that are read would be needed`
      : 'the input ends too early';
  return stopped === undefined ? ends : `${ends}; ${stopped}`;
}

/** Failed tests that the text lists; `--json` has all. */
const LISTED_FAILURES = 20;

export function aisReport(result: AisResult, facts: AisFacts): Report {
  const { file, bits, width } = facts;
  const { runs } = result;
  const edition = editionOf(result);
  const isA = isProcedureA(result);
  const numbers = isA ? `, random numbers of ${width === 1 ? '1 bit' : `${width} bits`}` : '';
  const text = [
    [`${edition.part}: ${verdictText(result, bits)}`, `${file}: ${grouped(bits)} bits${numbers}`],
    ...runs.map((run, i) => [
      runTitle(run, edition.runs[i]),
      ...alignColumns(isA ? summaryRows(run, edition) : testRows(run, edition)),
    ]),
    ...(isA ? runs.map(failureLines) : []),
    edition.caveat,
    alignColumns(traceRows(facts)),
  ];
  return { text, json: aisJson(result, facts) };
}

function isProcedureA(result: AisResult): boolean {
  return 'procedure' in result && result.procedure === 'A';
}

/** The facts by which the report can be traced. */
function traceRows({ input, created, software }: AisFacts): TraceRow[] {
  return [
    ...readRows({ ...input, size: input.sizeBytes ?? null }),
    ...hintRows(input.hints),
    ...programRows(software, created),
  ];
}

function runTitle({ bits, failed, complete, stopped }: ProcedureRun, name: string): string {
  const early = stopped === undefined ? ' before the bits ended' : `; ${stopped}`;
  const end = `${failed} failed${complete ? '' : early}`;
  return `${name}: ${grouped(bits)} bits, ${end}`;
}

/** One row for each test of procedure A, over all its sequences. */
function summaryRows({ tests }: ProcedureRun, { titles }: Edition): string[][] {
  const names = [...new Set(tests.map(({ name }) => name))];
  return [
    ['test', '', 'applied', 'failed'],
    ...names.map((name) => {
      const same = tests.filter((test) => test.name === name);
      const failed = same.filter(({ passed }) => !passed).length;
      return [name, titles[name] ?? '', String(same.length), String(failed)];
    }),
  ];
}

function testRows({ tests }: ProcedureRun, { titles }: Edition): string[][] {
  return [
    ['test', '', 'applied to', 'statistics', 'passes if', ''],
    ...tests.map((test) => [
      test.name,
      titles[test.name] ?? '',
      test.on,
      figures(test),
      test.limit,
      resultText(test.passed),
    ]),
  ];
}

/** Failed tests of procedure A, of which the table has counts only. */
function failureLines({ tests }: ProcedureRun): Paragraph {
  const failed = tests.filter(({ passed }) => !passed);
  if (failed.length === 0) return [];
  const listed = failed.slice(0, LISTED_FAILURES);
  const rest = failed.length - listed.length;
  return [
    'Failed:',
    ...listed.map((test) => `  ${test.name}, ${test.on}: ${figures(test)} (${test.limit})`),
    ...(rest > 0 ? [`  and ${grouped(rest)} more: --json has all`] : []),
  ];
}

function figures({ statistics }: ElementaryTest): string {
  return Object.entries(statistics)
    .map(([name, value]) => {
      const numbers = typeof value === 'number' ? [value] : value;
      const text = numbers.map((number) => (Number.isInteger(number) ? number : number.toFixed(6)));
      return `${name.replaceAll('_', ' ')} ${text.join(', ')}`;
    })
    .join('; ');
}

function aisJson(result: AisResult, facts: AisFacts): object {
  const { verdict, runs } = result;
  const { file, bits, width, input, created, software } = facts;
  const { bytes, sha256, sizeBytes } = input;
  const { standard, edition } = editionOf(result);
  return {
    standard,
    edition,
    input: {
      file,
      bits,
      size: sizeBytes ?? null,
      bytes,
      sha256,
      format: input.format,
      ...(input.hints?.length && { hints: input.hints }),
      program: software.program,
    },
    ...('suite' in result ? { suite: result.suite } : { procedure: result.procedure }),
    ...(isProcedureA(result) && { width }),
    verdict,
    runs,
    software: { build: software.build },
    created,
  };
}
