/**
 * The log stops: going on could fork it. The message says what was found and what to do. It stays stopped until a
 * restart or `phm log recover`. Keys are generated all the same, and their entries wait.
 */
export class LogStopped extends Error {
  override readonly name = 'LogStopped';
}
