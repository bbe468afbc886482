import { writeFailure } from '../files/durable-file.ts';
import { directoryProblem, linkProblem } from '../files/ownership.ts';

/** The failure of a command: the message for stderr and the exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** 1: the command failed. 2: wrong usage. */
  readonly exitCode: 1 | 2;
  /** The message. A line end within a line was quoted from elsewhere, and is shown as such. */
  readonly lines: readonly string[];

  constructor(message: string | readonly string[], exitCode: 1 | 2) {
    const lines = typeof message === 'string' ? [message] : message;
    super(lines.join('\n'));
    this.lines = lines;
    this.exitCode = exitCode;
  }
}

/** Returns the error for an output file that the file system refuses. */
export function unwritable(path: string, error: unknown): CommandError {
  return new CommandError(`${path} cannot be written: ${writeFailure(error)}`, 1);
}

/** Throws `CommandError` if a link of another user decides where a file goes. */
export function refuseForeignLink(path: string): void {
  const problem = linkProblem(path);
  if (problem !== null) throw new CommandError(problem, 1);
}

/** Throws `CommandError` if another user can put files into a directory, or replace it. */
export function requireOwnDirectory(path: string): void {
  const problem = directoryProblem(path);
  if (problem !== null) throw new CommandError(problem, 1);
}
