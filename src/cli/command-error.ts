import { writeFailure } from '../files/durable-file.ts';

/** A command that cannot do what it was asked: the message for stderr, and the exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** 1: the command failed. 2: it was called wrongly. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A file that the command was to write and cannot, for a reason of the file system. */
export function unwritable(path: string, error: unknown): CommandError {
  return new CommandError(`${path} cannot be written: ${writeFailure(error)}`, 1);
}
