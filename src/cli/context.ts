/** The context of a command: its outputs and, on request, the configuration. */

import { availableParallelism } from 'node:os';
import { CommandError, type Output, safeOutput, type Write } from '#platform/commands';
import { type Config, readConfig } from '../config/index.ts';
import { SOURCE_NAMES } from '../entropy/index.ts';
import type { ProcessLog } from '../process/process-log.ts';
import { ConfigurationError } from './configuration-error.ts';

/** What the process gives a command line. */
export interface CliProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How the user started this program, such as `phm`. Messages name commands in this form. */
  readonly launcher: string;
  /** The user's mask of file permissions. The program's own is stricter. */
  readonly umask: number;
  /** Writes to standard output, and `err` to standard error, what is ready to be shown. */
  readonly out: Write;
  readonly err: Write;
  /** Data in bytes. Resolves when more may be written. Rejects when the output has no reader any more. */
  readonly outBytes: (bytes: Uint8Array) => Promise<void>;
  /** Lets the process end without a wait for the reader of its output. A reader that has gone is then no failure. */
  readonly leaveOutput: () => void;
  /** Reports whether data and messages go to the same place: a terminal, or one pipe or file. */
  readonly outputIsShared: () => boolean;
  /** Writes messages as JSON lines; null if they are text. Only a server has it. */
  readonly log: ProcessLog | null;
  /**
   * Reports whether standard output is read: `closed` if it is not open, `ignored` if it leads to the null device that stands
   * for a closed one. A shell's `> /dev/null` is `open`.
   */
  readonly outputState: () => 'open' | 'ignored' | 'closed';
  /** Called if the exit code of the command is a verdict: data that is lost then must not end with code 1. */
  readonly onVerdict: () => void;
  /** Runs the server until it shuts down. Resolves with the exit code. */
  readonly serve: (config: Config, options: { json: boolean }) => Promise<number>;
}

/** What a command sees: its process, with outputs that escape what could act on a terminal. */
export type CliContext = Omit<CliProcess, keyof Output> & Output;

/** Returns the context of the commands. `onLost` is called for data that a closed standard output loses. */
export function contextOf(given: CliProcess, onLost: () => void): CliContext {
  const isClosed = given.outputState() === 'closed';
  const out: Write = isClosed ? onLost : given.out;
  const outBytes = isClosed ? () => Promise.reject(new CommandError(LOST_DATA, 1)) : given.outBytes;
  return { ...given, ...safeOutput(out, given.err), outBytes };
}

/** Why data of a command is lost. */
export const LOST_DATA = 'the output cannot be written: standard output is closed';

/**
 * Throws `CommandError` if nobody reads standard output. For commands that show something once: it MUST be called before
 * they make it.
 */
export function requireReader({ outputState }: CliContext): void {
  if (outputState() === 'open') return;
  throw new CommandError(
    'standard output is closed or ignored, so the result would be lost: nothing was done',
    1,
  );
}

/** Returns the configuration of this environment. Throws an error that lists every problem. */
export function requireConfig({ env, err, log }: CliContext, serves = false): Config {
  const cores = availableParallelism();
  const say = (text: string): void => {
    if (log) log('warn', { text }, 'the command of the master secret says');
    else err(`the command of the master secret says: ${text}\n`);
  };
  const result = readConfig(env, { cores, knownSources: SOURCE_NAMES, serves, say });
  for (const reason of result.warnings) {
    if (log) log('warn', { reason }, 'a variable has no effect');
    else err(`warning: ${reason}\n`);
  }
  if (!result.ok) throw new ConfigurationError(result.problems);
  return result.config;
}
