/** The progress line of a run, shown only on a terminal. */
import { barOf, type StatusLine, timeText } from '#platform/commands';

/** Shows how many files a run has, how fast they come, and the time left. */
export class BatchProgress {
  readonly #line: StatusLine;
  readonly #count: number;
  readonly #now: () => number;
  readonly #startMs: number;
  /** Files at the first update: those of earlier runs say nothing about the rate. */
  #before: number | null = null;

  /** `now` returns milliseconds. */
  constructor(line: StatusLine, count: number, now: () => number) {
    this.#line = line;
    this.#count = count;
    this.#now = now;
    this.#startMs = now();
  }

  update(made: number): void {
    this.#before ??= made;
    const seconds = (this.#now() - this.#startMs) / 1000;
    const fresh = made - this.#before;
    this.#line.show(progressText(made, this.#count, fresh, seconds));
  }

  /** Removes the line. Call it before other output and at the end. */
  clear(): void {
    this.#line.clear();
  }
}

/** Returns the progress as one line. Rate and time left come with the first `fresh` keys of this run. */
export function progressText(made: number, count: number, fresh: number, seconds: number): string {
  const done = `${barOf(made, count)} ${made.toLocaleString('en')} of ${count.toLocaleString('en')} keys`;
  if (fresh === 0) return done;
  const perSecond = fresh / Math.max(0.001, seconds);
  return `${done}  ${perSecond.toFixed(1)}/s  ${timeText((count - made) / perSecond)} left`;
}
