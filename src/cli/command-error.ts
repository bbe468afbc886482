import { writeFailure } from '../files/durable-file.ts';

/** The failure of a command: the message for stderr and the exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** 1: the command failed. 2: wrong usage. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A configuration that cannot be used. */
export class ConfigurationError extends CommandError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['the configuration is invalid:', ...problems].join('\n  '), 2);
    this.problems = problems;
  }
}

/** Returns the error for an output file that the file system refuses. */
export function unwritable(path: string, error: unknown): CommandError {
  return new CommandError(`${path} cannot be written: ${writeFailure(error)}`, 1);
}
