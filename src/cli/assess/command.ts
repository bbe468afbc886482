/** `phm assess`: the options of the command. */
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Constants, TEST_NAMES, type TestName } from '#sp800-22';
import type { AssessOutput } from '#sp800-22/report';
import { HtmlOutput, makeOutput, type OutputKind } from '#sp800-22/report';
import { PROJECT_VERSION } from '../../version.ts';
import { CommandError } from '../command-error.ts';
import type { CliContext } from '../context.ts';
import { OUTPUT_GONE, untilInterrupted } from '../interruption.ts';
import { parseCount } from '../parse-count.ts';
import { assess } from './assess.ts';
import { INPUT_FORMATS, type InputFormat, inputName, type PackedSequence } from './input.ts';
import { claimPagePath, replaceFile } from './page-file.ts';
import { ProgressBar } from './progress.ts';
import type { AssessProgress } from './run.ts';

interface AssessFlags {
  readonly bits?: number;
  readonly sequences?: number | 'all';
  readonly format: InputFormat;
  readonly constants: Constants;
  readonly test?: readonly TestName[];
  readonly threads: number;
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly html?: string;
}

/** More threads than any machine has cores: a larger number is a typing error. */
const MAX_THREADS = 1024;

const HELP = `
One sequence gets a report. 55 or more also get a result for their source (SP 800-22 §4.2). Sequences follow each
other without a gap; a remainder shorter than --bits is not used.

The page of --html works without network or scripts. It shows bits of the input, so only its owner can read it.
Ctrl-C reports the finished part. The exit code is 0 if the command worked, even if tests fail.
`;

export function addAssessCommand(program: Command, context: CliContext): void {
  program
    .command('assess <file>')
    .description('run the 15 tests of SP 800-22 on a file or "-" (stdin)')
    .option('--bits <n>', 'length of a sequence; default: the whole file', parseCount)
    .option('--sequences <k>', 'number of sequences, or "all"; default: 1', parseSequences)
    .addOption(
      new Option(
        '--format <format>',
        'binary: most significant bit first; ascii: digits 0 and 1; hex: four bits per digit',
      )
        .choices(INPUT_FORMATS)
        .default('binary'),
    )
    .addOption(
      new Option('--test <name>', 'run only this test; repeat the option for more tests')
        .choices(TEST_NAMES)
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
    .option('--json', 'write the report as JSON')
    .addOption(new Option('--csv', 'write one line for each p-value').conflicts('json'))
    .option('--html <file>', 'also write the report as a web page with diagrams')
    .addHelpText('after', HELP)
    .action((file: string, flags: AssessFlags) => run(file, flags, context));
}

async function run(
  file: string,
  { json, csv, html, test, sequences, ...flags }: AssessFlags,
  context: CliContext,
): Promise<void> {
  if (sequences !== undefined && flags.bits === undefined) {
    throw new CommandError('--sequences needs --bits, the length of each sequence', 2);
  }
  const { bits } = flags;
  const page = html === undefined ? undefined : openPage(html, file, flags.constants);
  const bar =
    process.stderr.isTTY && bits !== undefined
      ? new ProgressBar(bits, context.err, () => performance.now())
      : undefined;
  const kind: OutputKind = json ? 'json' : csv ? 'csv' : 'text';
  const work = (signal: AbortSignal): Promise<void> => {
    const output = makeOutput(kind, (text) => {
      bar?.clear();
      if (signal.reason !== OUTPUT_GONE) context.out(text);
    });
    const onProgress = (progress: AssessProgress): void => bar?.update(progress);
    const options = { file, ...flags, ...howMany(sequences, bits), ...(test && { tests: test }) };
    if (!page) return assess(options, output, { signal, onProgress });
    const onFirstSequence = ({ bytes, bits }: PackedSequence): void => page.draw(bytes, bits);
    return assess(options, bothOutputs(output, page), { signal, onProgress, onFirstSequence });
  };
  try {
    await untilInterrupted(work);
  } finally {
    bar?.clear();
  }
}

/** Returns the output for the page. Throws `CommandError` if no page can be written to `path`. */
function openPage(path: string, input: string, constants: Constants): HtmlOutput {
  const target = claimPagePath(path, input);
  const head = { input: inputName(input), program: `phm ${PROJECT_VERSION}`, constants };
  return new HtmlOutput(head, (page) => replaceFile(target, page));
}

/** Writes to standard output first, which gets its report even if the page cannot be written. */
function bothOutputs(first: AssessOutput, second: AssessOutput): AssessOutput {
  return {
    add: (report) => {
      first.add(report);
      second.add(report);
    },
    end: (summary) => {
      first.end(summary);
      second.end(summary);
    },
  };
}

function parseSequences(text: string): number | 'all' {
  return text === 'all' ? text : parseCount(text);
}

/** Returns the number of sequences; left out for as many as the input contains. */
function howMany(
  sequences: number | 'all' | undefined,
  bits: number | undefined,
): { sequences?: number } {
  return sequences === 'all' || bits === undefined ? {} : { sequences: sequences ?? 1 };
}

function parseThreads(text: string): number {
  const threads = parseCount(text);
  if (threads > MAX_THREADS) throw new InvalidArgumentError(`use at most ${MAX_THREADS}.`);
  return threads;
}

function collectTests(text: string, before: readonly TestName[] = []): readonly TestName[] {
  const name = TEST_NAMES.find((known) => known === text);
  if (!name) throw new InvalidArgumentError(`use one of ${TEST_NAMES.join(', ')}.`);
  return [...before, name];
}
