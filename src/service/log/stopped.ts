/**
 * Why no key may leave the server while the log is stopped. `forked`: the keys of the log have signed two trees that
 * contradict each other. `altered`: the rows of the logs are as no server and no command leaves them, so entries of new
 * keys may go to no log.
 */
export type Halt = 'forked' | 'altered';

/**
 * The log stops: going on could fork it. The message says what was found and what to do. It stays stopped until a
 * restart or `phm log recover`. Without a `halt`, keys are generated all the same, and their entries wait.
 */
export class LogStopped extends Error {
  override readonly name = 'LogStopped';
  readonly halt: Halt | null;

  constructor(message: string, halt: Halt | null = null) {
    super(message);
    this.halt = halt;
  }
}
