/** The context of a command: its outputs and, on request, the configuration. */
import { availableParallelism } from 'node:os';
import { type Config, readConfig } from '../config/index.ts';
import { SOURCE_NAMES } from '../entropy/index.ts';
import type { ProcessLog } from '../process-log.ts';
import { ConfigurationError } from './command-error.ts';

export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How the user started this program, such as `phm`. Messages name commands in this form. */
  readonly launcher: string;
  /** The user's mask of file permissions. The program's own is stricter. */
  readonly umask: number;
  /** Data: results and JSON. */
  readonly out: (text: string) => void;
  /** Data in bytes. Resolves when more may be written. Rejects when the output has no reader any more. */
  readonly outBytes: (bytes: Uint8Array) => Promise<void>;
  /** Lets the process end without a wait for the reader of its output. A reader that has gone is then no failure. */
  readonly leaveOutput: () => void;
  /** Reports whether data and messages go to the same place: a terminal, or one pipe or file. */
  readonly outputIsShared: () => boolean;
  /** Messages: notes, warnings and errors. */
  readonly err: (text: string) => void;
  /** Writes messages as JSON lines; null if they are text. Only a server has it. */
  readonly log: ProcessLog | null;
  /** Runs the server until it shuts down. Resolves with the exit code. */
  readonly serve: (config: Config, options: { json: boolean }) => Promise<number>;
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

/** Writes one JSON value and a line end. */
export function writeJson({ out }: CliContext, value: unknown): void {
  out(`${JSON.stringify(value)}\n`);
}

/** Writes rows as aligned columns under a heading. */
export function writeTable({ out }: CliContext, heading: string[], rows: string[][]): void {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) =>
    lines.reduce((width, line) => Math.max(width, line[column]?.length ?? 0), 0),
  );
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    out(`${cells.join('  ').trimEnd()}\n`);
  }
}
