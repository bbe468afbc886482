/** Reads lengths of time on the command line: 90m, 12h, 30d. */
import { InvalidArgumentError } from 'commander';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../clock.ts';
import { once } from './once.ts';

const UNITS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;

/** A hundred years. */
const MAX_DAYS = 36_500;

/** Returns a parser for an option: it returns milliseconds. */
export function parseDuration(option: string): (text: string, given?: number) => number {
  return once(option, (text) => {
    const [, count, unit] = /^([1-9][0-9]{0,8})([mhd])$/.exec(text) ?? [];
    const ms = Number(count) * UNITS[unit as keyof typeof UNITS];
    if (ms <= MAX_DAYS * DAY_MS) return ms;
    throw new InvalidArgumentError(
      `use a number of minutes, hours or days, such as 90m, 12h or 30d, of at most ${MAX_DAYS}d.`,
    );
  });
}

/** Returns the text of a length of time in the largest unit that fits, as `parseDuration` reads it. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h'] as const) {
    if (ms % UNITS[unit] === 0) return `${ms / UNITS[unit]}${unit}`;
  }
  return `${ms / UNITS.m}m`;
}
