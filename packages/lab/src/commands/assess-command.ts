/** `phm assess`: the options of the command. */

import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  CommandError,
  OUTPUT_GONE,
  parseCount,
  parseCountAs,
  untilInterrupted,
} from '../../../platform/src/commands/index.ts';
import {
  type Constants,
  type RowName,
  SUPPLEMENT_NAMES,
  type SupplementName,
  TEST_NAMES,
  type TestName,
} from '../../../sp800-22/src/index.ts';
import type { InputFormat } from '../input/open.ts';
import { HtmlOutput } from '../report/html-output.ts';
import { checkFields, type ReportFields } from '../report/identity.ts';
import { formatNistReport } from '../report/nist-report.ts';
import { makeOutput, type OutputKind } from '../report/output.ts';
import { type AssessOutput, type AssessSummary, hasFailed } from '../report/summary.ts';
import type { TraceSource } from '../report/trace.ts';
import { assess } from './assess-file.ts';
import type { LabContext } from './context.ts';
import { addDoublingOptions, assessDoubling, type DoublingFlags } from './doubling-command.ts';
import type { AssessControl, AssessOptions, InputRead } from './file-run.ts';
import { FORMS_HELP, formatOption } from './format-option.ts';
import { inputName, itemName } from './input-name.ts';
import { claimPagePath, isSamePath, replaceFile } from './page-file.ts';
import {
  addParameterOptions,
  assertParametersUsed,
  type ParameterFlags,
  toParameters,
  withOptionName,
} from './parameter-options.ts';
import { ProgressBar } from './progress.ts';
import { addReportOptions } from './report-options.ts';
import { creationTime, toTrace } from './trace.ts';

interface AssessFlags extends ParameterFlags, ReportFields, DoublingFlags {
  readonly bits?: number;
  readonly offset: number;
  readonly sequences?: number | 'all';
  readonly format?: InputFormat;
  readonly constants: Constants;
  readonly test?: readonly RowName[];
  readonly supplements?: boolean;
  readonly thorough?: boolean;
  readonly threads: number;
  readonly csv?: boolean;
  readonly html?: string;
  readonly omitBits?: boolean;
  readonly fail?: boolean;
  readonly nistReport?: string;
}

/** More threads than any machine has cores: a larger number is a typing error. */
const MAX_THREADS = 1024;

const HELP = `
${FORMS_HELP}

Supplements are tests that are not part of SP 800-22. They have a verdict of their own, and take longer than the 15
tests together. --thorough also tests the sequences one after another, as long streams of up to 2^26 bits, which is not part
of SP 800-22 either. It finds weak generators in a few megabytes.

The source is judged by one rule for any number of sequences; 55 or more also by the second level of SP 800-22 §4.2.
At most 0.9 % of sound sources fail, with supplements 1.7 %, with --thorough 1.8 %. Sequences follow each other without
a gap; a remainder shorter than --bits is not used.

The page of --html works without network or scripts. It shows bits of the input, unless --omit-bits is given, so only
its owner can read the file.
Ctrl-C reports the finished part. The exit code is 0 if the command worked, even if tests fail; --fail changes that.
`;

export function addAssessCommand(
  program: Command,
  context: LabContext,
  onExitCode: (exitCode: number) => void,
): void {
  const command = program
    .command('assess <file>')
    .description('run the 15 tests of SP 800-22 on a file or "-" (stdin)')
    .option('--bits <n>', 'length of a sequence; default: the whole file', parseCount)
    .addOption(
      new Option('--offset <n>', 'bits to skip at the start of the input')
        .argParser(parseOffset)
        .default(0),
    )
    .option('--sequences <k>', 'number of sequences, or "all"; default: 1', parseSequences)
    .addOption(formatOption())
    .addOption(
      new Option('--test <name>', 'run only this test or supplement; repeat the option for more')
        .choices([...TEST_NAMES, ...SUPPLEMENT_NAMES])
        .argParser(collectTests),
    )
    .addOption(
      new Option(
        '--constants <set>',
        'exact values, or nist: the values of the NIST program, for comparison',
      )
        .choices(['exact', 'nist'])
        .default('exact'),
    )
    .addOption(
      new Option('--threads <n>', 'sequences to test at once')
        .argParser(parseThreads)
        .default(availableParallelism(), 'all cores'),
    )
    .option('--supplements', 'also run three tests that are not part of SP 800-22')
    .option('--thorough', 'also run them, and tests on long streams; takes far longer')
    .option('--json', 'write the report as JSON')
    .addOption(new Option('--csv', 'write one line for each p-value').conflicts('json'))
    .option('--html <file>', 'also write the report as a web page with diagrams')
    .option('--omit-bits', 'leave the picture of the bits out of --html')
    .option(
      '--nist-report <file>',
      "also write the counts as the NIST program's finalAnalysisReport.txt",
    )
    .option('--fail', 'exit with code 1 if the report says FAILED')
    .addHelpText('after', HELP)
    .action(async (file: string, flags: AssessFlags) => {
      try {
        if (await runCommand(file, flags, context)) onExitCode(1);
      } catch (error) {
        throw withOptionName(error);
      }
    });
  addDoublingOptions(command);
  addParameterOptions(command);
  addReportOptions(command);
}

/** Writes the report. Returns whether `--fail` ends the command with code 1. */
async function runCommand(file: string, flags: AssessFlags, context: LabContext): Promise<boolean> {
  if (flags.doubling) {
    const options = toOptions(file, { ...flags, sequences: 'all' }, context);
    const failed = await assessDoubling(options, flags, context);
    return failed && flags.fail === true;
  }
  if (flags.mostBits !== undefined) throw new CommandError('--most-bits needs --doubling', 2);
  const summary = await run(file, flags, context);
  if (!flags.fail) return false;
  const failed = hasFailed(summary);
  if (!failed) warnIfNotJudged(summary, context);
  return failed;
}

async function run(file: string, flags: AssessFlags, context: LabContext): Promise<AssessSummary> {
  if (flags.sequences !== undefined && flags.bits === undefined) {
    throw new CommandError('--sequences needs --bits, the length of each sequence', 2);
  }
  const options = toOptions(file, flags, context);
  const created = creationTime(context);
  const software = context.software();
  let read: InputRead | undefined;
  const trace: TraceSource = () => ({
    ...toTrace(options, flags.sequences, read, created, software),
    report: checkFields(flags),
  });
  const page = openPage(file, flags, software.program, trace);
  const nistReport = openNistReport(file, flags);
  const bar = progressBar(flags, context);
  const control: AssessControl = {
    onProgress: (progress) => bar?.update(progress),
    onInputRead: (input) => {
      read = input;
    },
    ...(page && { onSequence: (sequence, index) => page.draw(sequence, index) }),
  };
  const work = (signal: AbortSignal): Promise<AssessSummary> => {
    const write = (text: string): void => {
      bar?.clear();
      if (signal.reason !== OUTPUT_GONE) context.outText(text);
    };
    const output = makeOutput(outputKind(flags), write, trace);
    return assess(options, allOutputs([output, page, nistReport]), { ...control, signal });
  };
  try {
    return await untilInterrupted(work);
  } finally {
    bar?.clear();
    for (const hint of read?.hints ?? []) context.err(`hint: ${hint}\n`);
  }
}

function toOptions(file: string, flags: AssessFlags, { launcher }: LabContext): AssessOptions {
  const { bits, offset, format, constants, threads } = flags;
  const parameters = toParameters(flags);
  const selected = selection(flags);
  assertParametersUsed(parameters, selected.tests);
  return {
    file,
    ...(format && { format }),
    launcher,
    constants,
    threads,
    offsetBits: offset,
    ...(bits !== undefined && { bits }),
    ...howMany(flags),
    ...selected,
    ...(flags.thorough && { thorough: true }),
    parameters,
  };
}

function outputKind({ json, csv }: AssessFlags): OutputKind {
  if (json) return 'json';
  return csv ? 'csv' : 'text';
}

function progressBar({ bits }: AssessFlags, context: LabContext): ProgressBar | undefined {
  if (!process.stderr.isTTY || bits === undefined) return undefined;
  return new ProgressBar(bits, context.status, () => performance.now());
}

/** Says that `--fail` had no verdict to report: no test applied whose distribution is known. */
function warnIfNotJudged(summary: AssessSummary, context: LabContext): void {
  if (summary.passed !== null) return;
  context.err('warning: --fail: the source is not judged: no test applied that could fail it\n');
}

/** Returns the output for the page, if there is one. Throws `CommandError` if it cannot be written to its path. */
function openPage(
  file: string,
  { html, constants, omitBits = false }: AssessFlags,
  program: string,
  trace: TraceSource,
): HtmlOutput | undefined {
  if (html === undefined && omitBits) throw new CommandError('--omit-bits needs --html', 2);
  if (html === undefined) return undefined;
  const target = claimPagePath(html, file);
  const head = { input: itemName(file), program, constants, omitBits, trace };
  return new HtmlOutput(head, (page) => replaceFile(target, page));
}

/** Returns the output for the report of `--nist-report`, if it is wanted. Throws `CommandError` as `openPage`. */
function openNistReport(file: string, { html, nistReport }: AssessFlags): AssessOutput | undefined {
  if (nistReport === undefined) return undefined;
  const target = claimPagePath(nistReport, file, '--nist-report');
  if (html !== undefined && isSamePath(claimPagePath(html, file), target)) {
    throw new CommandError(
      `--nist-report ${nistReport} is also the file of --html; name another file`,
      2,
    );
  }
  return {
    add: () => {},
    end: ({ rows }) => replaceFile(target, formatNistReport(inputName(file), rows)),
  };
}

/** Writes to standard output first, which gets its report even if a file cannot be written. */
function allOutputs(outputs: readonly (AssessOutput | undefined)[]): AssessOutput {
  return {
    add: (report) => {
      for (const output of outputs) output?.add(report);
    },
    end: (summary) => {
      for (const output of outputs) output?.end(summary);
    },
  };
}

function parseSequences(text: string): number | 'all' {
  return text === 'all' ? text : parseCountAs('"all" or a whole number of 1 or more', text);
}

/** Returns the number of sequences; left out for as many as the input contains. */
function howMany({ sequences, bits }: AssessFlags): { sequences?: number } {
  return sequences === 'all' || bits === undefined ? {} : { sequences: sequences ?? 1 };
}

function parseOffset(text: string): number {
  return text === '0' ? 0 : parseCountAs('a whole number of 0 or more', text);
}

function parseThreads(text: string): number {
  const threads = parseCount(text);
  if (threads > MAX_THREADS) throw new InvalidArgumentError(`use at most ${MAX_THREADS}.`);
  return threads;
}

/** Returns the tests and supplements to run: those named; else all tests, and all supplements if wanted. */
function selection({ test: named, supplements, thorough }: AssessFlags): {
  tests?: readonly TestName[];
  supplements: readonly SupplementName[];
} {
  const all = supplements || thorough;
  const wanted = SUPPLEMENT_NAMES.filter((name) => all || named?.includes(name));
  return named
    ? { tests: TEST_NAMES.filter((name) => named.includes(name)), supplements: wanted }
    : { supplements: wanted };
}

function collectTests(text: string, before: readonly RowName[] = []): readonly RowName[] {
  const names = [...TEST_NAMES, ...SUPPLEMENT_NAMES];
  const name = names.find((known) => known === text);
  if (!name) throw new InvalidArgumentError(`use one of ${names.join(', ')}.`);
  return [...before, name];
}
