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
