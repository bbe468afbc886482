/** The log: one JSON object a line. A field is text, a number or a switch, so that key bytes have no way into it. */
import type { Clock } from '../clock.ts';

type Fields = Readonly<Record<string, string | number | boolean>>;

type Level = 'info' | 'warn' | 'error';

/** An event that repeats with the same text is written once in this time, with the number of those left out. */
const REPEAT_MS = 60_000;

export class Log {
  readonly #write: (line: string) => void;
  readonly #clock: Clock;
  readonly #last = new Map<string, { readonly atMs: number; left: number }>();

  constructor(write: (line: string) => void, clock: Clock) {
    this.#write = write;
    this.#clock = clock;
  }

  say(level: Level, message: string, fields: Fields = {}): void {
    const time = new Date(this.#clock.nowMs()).toISOString();
    this.#write(`${JSON.stringify({ time, level, message, ...fields })}\n`);
  }

  /** Says what may happen many times a second. `what` tells events of one message apart. */
  sometimes(level: Level, message: string, what: string, fields: Fields = {}): void {
    const nowMs = this.#clock.nowMs();
    const last = this.#last.get(`${message}\n${what}`);
    if (last !== undefined && nowMs - last.atMs < REPEAT_MS) {
      last.left += 1;
      return;
    }
    this.#last.set(`${message}\n${what}`, { atMs: nowMs, left: 0 });
    const left = last?.left ?? 0;
    this.say(level, message, left > 0 ? { ...fields, left_out: left } : fields);
  }
}

/** Returns what may be written of an error: its message only if this program made it. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { message, cause } = error;
  const isMore = cause instanceof Error && !message.includes(cause.message);
  return isMore ? `${message}: ${cause.message}` : message;
}

/** Returns what is the same in each repetition of a failure: without the ID of the request. */
export function kindOf(reason: string): string {
  return reason.replaceAll(/ \(request [^)]*\)/g, '');
}
