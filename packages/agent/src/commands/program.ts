/** The command line of `phm-agent`. Data goes to stdout, messages and the log go to stderr. */
import { CommanderError } from 'commander';
import {
  CommandError,
  newProgram,
  type Output,
  parseCommand,
  safeOutput,
  untilStopped,
  type Write,
} from '../../../platform/src/commands/index.ts';
import { SYSTEM_CLOCK } from '../clock.ts';
import { type AgentConfig, ConfigError, loadConfig } from '../config/load.ts';
import { runAgent } from '../running/agent.ts';
import { Log, reasonOf } from '../running/log.ts';
import { runPsk } from '../running/psk.ts';
import type { KeyBoxes } from '../source/key-boxes.ts';
import { JournalError } from '../store/journal.ts';
import { LockedError } from '../store/lock.ts';
import { addPskCommand, type PskCommandOptions, peerNamed, systemOf } from './psk.ts';

const DESCRIPTION =
  'give the keys of a PHM key service to the systems beside it, or rotate one with a peer';

const USUAL_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

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
  const program = newProgram({ ...given, description: DESCRIPTION }, output);
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
  addPskCommand(program, (file, options) => psk(file, options, given));
  try {
    await parseCommand(program, args);
    return 0;
  } catch (error) {
    return report(error, given, output);
  }
}

async function check(file: string, { env }: AgentProcess, { out }: Output): Promise<void> {
  const { own, peers, services, routes, listeners } = await loadConfig(file, env);
  out(`name: ${own.name}`);
  // Peers pin it: people compare the two.
  out(`thumbprint: ${own.thumbprint}`);
  // Both ends have the same logs, or they share no key.
  for (const { url, origin } of services) out(`keys come from ${url}, with receipts of ${origin}`);
  for (const { master, slaves } of routes) {
    out(`keys of ${master.name} for ${slaves.map(({ name }) => name).join(', ')}`);
  }
  for (const { interface: spoken, host, port } of listeners) {
    out(`${spoken}: listens on ${host} port ${port}`);
  }
  if (listeners.length > 0) return;
  for (const peer of peers) out(`for psk with ${peer.name}, which has ${peer.thumbprint}`);
}

async function run(file: string, { env, err, boxesOf }: AgentProcess): Promise<void> {
  const config = await loadConfig(file, env);
  if (config.listeners.length === 0) {
    throw new ConfigError(['listeners, systems and access are missing: such a file is for psk']);
  }
  const log = new Log(err, SYSTEM_CLOCK);
  const options = { config, boxes: boxesOf(config), clock: SYSTEM_CLOCK, log };
  await untilStopped((signal) => runAgent(options, signal));
}

async function psk(
  file: string,
  options: PskCommandOptions,
  { env, err, boxesOf }: AgentProcess,
): Promise<void> {
  const config = await loadConfig(file, env);
  const peer = peerNamed(options.peer, config.peers);
  const { installer, confirm } = systemOf(options, env.PATH ?? USUAL_PATH);
  const running = {
    ...{ config, peer, installer, confirm },
    intervalMs: options.every,
    boxes: boxesOf(config),
    clock: SYSTEM_CLOCK,
    log: new Log(err, SYSTEM_CLOCK),
  };
  await untilStopped((signal) => runPsk(running, signal));
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
