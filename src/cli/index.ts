/**
 * The command line: parse → checked options → run → report. Data goes to stdout, messages go to stderr.
 *
 * Each command has a file in the folder of its purpose: `admin/` works on the data of a server, `client/` calls a
 * running service, `log/` compares and repairs the transparency log, `noise/` examines entropy sources, `doctor/` checks an
 * installation, `selftest/` runs known-answer tests, `completion/` completes words in a shell. Those that assess bits are in
 * `packages/lab/src/commands/`.
 */

import { Command, CommanderError } from 'commander';
import { CommandError, checkPaths } from '#platform/commands';
import { writeFailure } from '#platform/files';
import { KernelsError } from '#sp800-22/wasm';
import { NoiseFailure } from '../entropy/index.ts';
import { AppError, ERRORS, SetupError } from '../errors.ts';
import { asStarted } from '../process/launcher.ts';
import { PROJECT_VERSION } from '../process/version.ts';
import { ConfigurationError } from './configuration-error.ts';
import {
  type CliContext,
  type CliProcess,
  contextOf,
  LOST_DATA,
  requireConfig,
} from './context.ts';
import { commandsFirst, HELP_HINT } from './help.ts';

/** First words that need no command of another file. */
const IN_PROGRAM = ['serve', '--version'];

/** Runs one command line, without program and script. Resolves with the exit code: 0, 1 or 2. */
export async function runCli(args: readonly string[], given: CliProcess): Promise<number> {
  let isLost = false;
  const context = contextOf(given, () => {
    isLost = true;
  });
  let exitCode = 0;
  let lostCode: 1 | 2 = 1;
  const onExitCode = (code: number) => {
    exitCode = code;
    given.onVerdict();
    lostCode = 2;
  };
  const program = buildProgram(context, onExitCode);
  const words = withPresentName(args, context);
  if (!IN_PROGRAM.includes(words[0] ?? '')) {
    const { addCommands } = await import('./commands.ts');
    await addCommands(program, context, onExitCode, words[0]);
  }
  inheritSettings(program);
  try {
    await program.parseAsync(words, { from: 'user' });
    if (isLost && exitCode === 0) throw new CommandError(LOST_DATA, lostCode);
    return exitCode;
  } catch (error) {
    return report(error, context);
  }
}

/** Replaces the former name of `api-key`, which differed from `keys` by a letter, and says so. */
function withPresentName(args: readonly string[], { err }: CliContext): readonly string[] {
  const at = args[0] === 'help' ? 1 : 0;
  if (args[at] !== 'key') return args;
  err('note: "phm key" is now "phm api-key". The keys that "phm generate" gets: phm keys\n');
  return args.with(at, 'api-key');
}

/** Returns the program with one command: `serve`. */
export function buildProgram(context: CliContext, onExitCode: (exitCode: number) => void): Command {
  const program = new Command('phm')
    .description('generate symmetric keys, manage the key service and assess random bits')
    .version(PROJECT_VERSION, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    // Without this, `sources` would take the `--json` of `sources test --json`.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('(add --help to a command for its usage)')
    .configureOutput({
      writeOut: context.outText,
      // The hint to read the help comes this way. A log has no use for it.
      // It quotes nothing that was given.
      writeErr: context.log ? () => {} : (text) => context.err(...text.trimEnd().split('\n')),
      outputError: (message) => reportUsage(withoutApiKeys(message), context),
    })
    .hook('preAction', (_, command) => checkPaths(command))
    .configureHelp({ formatHelp: commandsFirst })
    .addHelpText('after', HELP_HINT);
  program
    .command('serve')
    .description('start the server; SIGTERM stops it after it has answered its requests')
    .option('--json', 'write one JSON line with the address once the server is ready')
    .addHelpText(
      'after',
      '\nThe variables that configure the server are listed by: phm help environment\n',
    )
    .action(async (options: { json?: boolean }) => {
      onExitCode(
        await context.serve(requireConfig(context, true), { json: options.json ?? false }),
      );
    });
  return program;
}

/** Copies settings to nested subcommands. Commander does this only on creation, which happens elsewhere. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child
      .copyInheritedSettings(command)
      .helpOption('-h, --help', 'print this help')
      .helpCommand(false);
    inheritSettings(child);
  }
}

/** Removes API keys: messages quote arguments, and any argument may be one. */
function withoutApiKeys(message: string): string {
  return message.replace(/phmsk_\w+/gi, '<API key>');
}

/** The question that Commander adds on a line of its own: it names options and commands of this program. */
const SUGGESTION = /\n\((?:Did you mean .*\?)\)$/;

function reportUsage(message: string, { log, err }: CliContext): void {
  const text = message.trimEnd();
  const [suggestion = ''] = SUGGESTION.exec(text) ?? [];
  const reason = text.slice(0, text.length - suggestion.length);
  if (log) log('fatal', { reason: text }, 'the command line is invalid');
  else err(reason, ...(suggestion === '' ? [] : [suggestion.trimStart()]));
}

/** Writes why a command failed and returns its exit code. Throws an unexpected error. */
function report(error: unknown, context: CliContext): number {
  // Commander has written its own message. Its exit code is 0 after --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const lines = linesOf(error, context);
  if (lines === null) throw error;
  const words = (text: string) => withoutApiKeys(asStarted(text, context));
  const { err, log } = context;
  if (!log) {
    const [first = '', ...others] = lines.map(words);
    err(`phm: ${first}`, ...others);
  } else if (error instanceof ConfigurationError) {
    log('fatal', { problems: error.problems.map(words) }, 'the configuration is invalid');
  } else log('fatal', { reason: lines.map(words).join('\n') }, 'the server cannot run');
  return error instanceof CommandError ? error.exitCode : 1;
}

/** Returns the lines to say about a failure; null if it is unexpected. */
function linesOf(error: unknown, context: CliContext): readonly string[] | null {
  if (error instanceof CommandError || error instanceof SetupError) return error.lines;
  const message = messageOf(error, context);
  return message === null ? null : [message];
}

function messageOf(error: unknown, { env }: CliContext): string | null {
  if (error instanceof KernelsError || error instanceof NoiseFailure) {
    return error.message;
  }
  if (error instanceof AppError) {
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
    const variable = env.PHM_DATABASE_URL ? 'PHM_DATABASE_URL' : 'PHM_DATA_DIR';
    const isOfDatabase = error.code === 'ledger_unavailable' || error.code === 'foreign_ledger';
    const place = isOfDatabase ? ` (the database in ${variable})` : '';
    return `${ERRORS[error.code].title}${cause}${place}`;
  }
  const { syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'uv_cwd') {
    return 'the working directory no longer exists: change to one that does';
  }
  // Commands write no file this way.
  if (syscall === 'write') return `the output cannot be written: ${writeFailure(error)}`;
  return null;
}
