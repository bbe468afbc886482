/** The progress bar of `phm assess`, shown only on a terminal. */

import {
  barOf,
  REDRAW_MS,
  type StatusLine,
  timeText,
} from '../../../platform/src/commands/index.ts';
import { grouped } from '../../../sp800-22/src/index.ts';
import type { Progress } from '../assess/suite-run.ts';

/** Returns the progress as one line: the rate and, if the number of sequences is known, a bar and the time left. */
export function progressLine(
  { finished, expected }: Progress,
  bitsPerSequence: number,
  elapsedMs: number,
): string {
  const perSecond = (finished * 1000) / Math.max(1, elapsedMs);
  const megabits = (perSecond * bitsPerSequence) / 1e6;
  const rate = `${perSecond.toFixed(1)}/s  ${megabits.toFixed(1)} Mbit/s`;
  if (expected === undefined) return `${grouped(finished)} sequences  ${rate}`;
  const left = timeText((expected - finished) / perSecond);
  return `${barOf(finished, expected)} ${grouped(finished)} of ${grouped(expected)}  ${rate}  ${left} left`;
}

export class ProgressBar {
  readonly #line: StatusLine;
  readonly #now: () => number;
  readonly #bits: number;
  readonly #startMs: number;
  #drawnMs: number;

  /** `now` returns milliseconds. */
  constructor(bits: number, line: StatusLine, now: () => number) {
    this.#bits = bits;
    this.#line = line;
    this.#now = now;
    this.#startMs = now();
    this.#drawnMs = this.#startMs;
  }

  update(progress: Progress): void {
    const nowMs = this.#now();
    if (nowMs - this.#drawnMs < REDRAW_MS) return;
    this.#drawnMs = nowMs;
    this.#line.show(progressLine(progress, this.#bits, nowMs - this.#startMs));
  }

  /** Removes the bar. Call it before other output and at the end. */
  clear(): void {
    this.#line.clear();
  }
}
