/** A progress line on a terminal, removed at the end. */
import { visible } from '../terminal/visible.ts';

const CLEAR_LINE = '\r\x1b[K';

/** Milliseconds between two lines: often enough to show progress, rarely enough to cost nothing. */
export const REDRAW_MS = 100;

const BAR_WIDTH = 24;

/** Returns a bar that is filled by the finished share. */
export function barOf(finished: number, expected: number): string {
  const filled = Math.floor((BAR_WIDTH * finished) / expected);
  return `[${'#'.repeat(filled).padEnd(BAR_WIDTH, '.')}]`;
}

/** Formats 75 seconds as 1:15. */
export function timeText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (parts[0] === 0) parts.shift();
  return parts.map((part, i) => (i === 0 ? `${part}` : `${part}`.padStart(2, '0'))).join(':');
}

export class StatusLine {
  readonly #write: (text: string) => void;
  #visible = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  show(text: string): void {
    this.#visible = true;
    this.#write(CLEAR_LINE + visible(text));
  }

  /** Removes the line. Call it before other output and at the end. */
  clear(): void {
    if (this.#visible) this.#write(CLEAR_LINE);
    this.#visible = false;
  }
}
