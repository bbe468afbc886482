/** What the programs of packages have in common, beside the commands of each. */
import { Command } from 'commander';
import { stackFrames, visibleLines } from '../terminal/index.ts';
import { failOnLostOutput } from './lost-output.ts';
import type { Output } from './output.ts';
import { checkPaths } from './path-arguments.ts';

interface ProgramName {
  readonly name: string;
  readonly version: string;
  readonly description: string;
}

/** Returns a program without commands. Commander throws instead of ending the process. */
export function newProgram(
  { name, version, description }: ProgramName,
  { outText, err }: Pick<Output, 'outText' | 'err'>,
): Command {
  return new Command(name)
    .description(description)
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

/** Parses a command line, without program and script, and runs its command. Rejects as that does. */
export async function parseCommand(program: Command, args: readonly string[]): Promise<void> {
  for (const command of program.commands) {
    command.copyInheritedSettings(program).helpOption('-h, --help', 'print this help');
  }
  await program.parseAsync(args, { from: 'user' });
}

/** Runs the process of a program. `run` resolves with the exit code, and rejects only with an unexpected error. */
export function startProgram(name: string, run: () => Promise<number>): void {
  process.stderr.on('error', () => {});
  failOnLostOutput({
    say: (reason) => process.stderr.write(`${name}: ${visibleLines(reason)}\n`),
    code: () => 1,
  });
  void run().then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      // Name and places, and never the message, which may quote the input or a secret.
      const unexpected = error instanceof Error ? error : new Error();
      const lines = [
        `${name}: ended by an unexpected ${unexpected.name}`,
        ...stackFrames(unexpected),
      ];
      process.stderr.write(`${lines.join('\n')}\n`);
      process.exitCode = 1;
    },
  );
}
