/** The command line of `phm-lab`: parse → checked options → run → report. Data goes to stdout, messages go to stderr. */
import { Command, CommanderError } from 'commander';
import {
  CommandError,
  checkPaths,
  safeOutput,
  type Write,
} from '../../../platform/src/commands/index.ts';
import { KernelsError } from '../../../sp800-22/src/node.ts';
import type { LabContext } from './context.ts';
import { addAssessCommands, addTestbenchCommand } from './index.ts';

/** What the process gives its command line. */
interface LabProcess extends Omit<LabContext, 'out' | 'err' | 'outText' | 'errDetail' | 'status'> {
  readonly version: string;
  /** Writes to standard output, and `err` to standard error, what is ready to be shown. */
  readonly out: Write;
  readonly err: Write;
}

/** Runs one command line, without program and script. Resolves with the exit code: 0, 1 or 2. */
export async function runLab(args: readonly string[], given: LabProcess): Promise<number> {
  const context: LabContext = { ...given, ...safeOutput(given.out, given.err) };
  let exitCode = 0;
  const program = buildProgram(given, context);
  addAssessCommands(program, context, (code) => {
    exitCode = code;
  });
  addTestbenchCommand(program, context);
  for (const command of program.commands) {
    command.copyInheritedSettings(program).helpOption('-h, --help', 'print this help');
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return report(error, context);
  }
}

function buildProgram({ name, version }: LabProcess, { outText, err }: LabContext): Command {
  return new Command(name)
    .description('test random bits by SP 800-22, SP 800-90B and AIS 20/31')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'show the help of a command')
    .exitOverride()
    .showHelpAfterError('(add --help to a command for its usage)')
    .configureOutput({
      writeOut: outText,
      writeErr: (text) => err(...text.trimEnd().split('\n')),
      outputError: (message) => err(...message.trimEnd().split('\n')),
    })
    .hook('preAction', (_, command) => checkPaths(command));
}

/** Writes why a command failed and returns its exit code. Throws an unexpected error. */
function report(error: unknown, { name, err }: LabContext): number {
  // Commander has written its own message. Its exit code is 0 after --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof KernelsError) err(`${name}: ${error.message}`);
  else if (error instanceof CommandError) {
    const [first = '', ...others] = error.lines;
    err(`${name}: ${first}`, ...others);
  } else throw error;
  return error instanceof CommandError ? error.exitCode : 1;
}
