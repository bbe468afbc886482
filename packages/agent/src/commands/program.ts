/** The command line of `phm-agent`. Data goes to stdout, messages and the log go to stderr. */
import { Command, CommanderError } from 'commander';
import {
  CommandError,
  checkPaths,
  type Output,
  safeOutput,
  untilStopped,
  type Write,
} from '../../../platform/src/commands/index.ts';
import { SYSTEM_CLOCK } from '../clock.ts';
import { type AgentConfig, ConfigError, loadConfig } from '../config/load.ts';
import { runAgent } from '../running/agent.ts';
import { Log, reasonOf } from '../running/log.ts';
import type { KeyBoxes } from '../source/key-boxes.ts';
import { JournalError } from '../store/journal.ts';
import { LockedError } from '../store/lock.ts';

/** What the process gives its command line. */
interface AgentProcess {
  readonly name: string;
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: Write;
  readonly err: Write;
  /** Returns the service behind a configuration. */
  readonly boxesOf: (config: AgentConfig) => KeyBoxes;
}

/** Runs one command line, without program and script. Resolves with the exit code: 0, 1 or 2. */
export async function runProgram(args: readonly string[], given: AgentProcess): Promise<number> {
  const output = safeOutput(given.out, given.err);
  const program = programOf(given, output);
  program
    .command('check')
    .description('check a configuration and all files that it names, and name every fault')
    .argument('<file>', 'the configuration, as JSON')
    .action((file: string) => check(file, given, output));
  program
    .command('run')
    .description('serve keys until SIGTERM')
    .argument('<file>', 'the configuration, as JSON')
    .action((file: string) => run(file, given));
  for (const command of program.commands) {
    command.copyInheritedSettings(program).helpOption('-h, --help', 'print this help');
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return report(error, given, output);
  }
}

function programOf({ name, version }: AgentProcess, { outText, err }: Output): Command {
  return new Command(name)
    .description('give the keys of a PHM key service to the systems beside it')
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

async function check(file: string, { env }: AgentProcess, { out }: Output): Promise<void> {
  const { own, routes, listeners } = await loadConfig(file, env);
  out(`name: ${own.name}`);
  // Peers pin it: people compare the two.
  out(`thumbprint: ${own.thumbprint}`);
  for (const { master, slaves } of routes) {
    out(`keys of ${master.name} for ${slaves.map(({ name }) => name).join(', ')}`);
  }
  for (const { host, port } of listeners) out(`listens on ${host} port ${port}`);
}

async function run(file: string, { env, err, boxesOf }: AgentProcess): Promise<void> {
  const config = await loadConfig(file, env);
  const log = new Log(err, SYSTEM_CLOCK);
  const options = { config, boxes: boxesOf(config), clock: SYSTEM_CLOCK, log };
  await untilStopped((signal) => runAgent(options, signal));
}

/** Writes why a command failed and returns its exit code. Throws an unexpected error. */
function report(error: unknown, { name }: AgentProcess, { err }: Output): number {
  // Commander has written its own message. Its exit code is 0 after --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ConfigError) {
    err(...error.faults.map((fault) => `${name}: ${fault}`));
    // systemd does not restart the agent then.
    return 2;
  }
  if (error instanceof CommandError) {
    err(...error.lines.map((line) => `${name}: ${line}`));
    return error.exitCode;
  }
  const isSystemError = error instanceof Error && 'syscall' in error;
  if (!isSystemError && !(error instanceof LockedError) && !(error instanceof JournalError))
    throw error;
  err(`${name}: ${reasonOf(error)}`);
  return 1;
}
