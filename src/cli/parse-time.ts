/** Reads times on the command line: a day, which starts at midnight UTC, or a time with its offset. */
import { InvalidArgumentError } from 'commander';
import { once } from './once.ts';

const TIME_FORM = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/i;

type TimeParser = (text: string, given?: number) => number;

/** Returns a parser for an option, which returns milliseconds since the epoch. */
export function anyTime(option: string): TimeParser {
  return once(option, parseTime);
}

/** As `anyTime`, for a time that is not in the future. */
export function pastTime(option: string): TimeParser {
  return once(option, (text) => {
    const epochMs = parseTime(text);
    if (epochMs < 0) throw new InvalidArgumentError('use a time after 1969.');
    if (epochMs <= Date.now()) return epochMs;
    throw new InvalidArgumentError('TIME is in the future: use a time in the past.');
  });
}

/** As `anyTime`, for a time in the future. */
export function futureTime(option: string): TimeParser {
  return once(option, (text) => {
    const epochMs = parseTime(text);
    if (epochMs <= Date.now()) {
      throw new InvalidArgumentError('the time is past: use a time in the future.');
    }
    if (epochMs < Date.UTC(10_000, 0)) return epochMs;
    throw new InvalidArgumentError('use a time before the year 10000.');
  });
}

function parseTime(text: string): number {
  const day = TIME_FORM.exec(text)?.[1];
  const epochMs = Date.parse(text.toUpperCase());
  // `Date.parse` reads February 30 as March 2.
  if (day !== undefined && !Number.isNaN(epochMs) && isDay(day)) return epochMs;
  throw new InvalidArgumentError(
    'use a day such as 2026-11-20 (its start, UTC), or a time with its offset such as 2026-11-20T14:00Z.',
  );
}

function isDay(day: string): boolean {
  const start = Date.parse(`${day}T00:00Z`);
  return !Number.isNaN(start) && new Date(start).toISOString().startsWith(day);
}
