/** Reads times on the command line. */
import { InvalidArgumentError } from 'commander';
import { CommandError } from './command-error.ts';

const TIME_FORM = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * Returns a parser for an option: it reads a day, which starts at midnight UTC, or a time with its offset, and returns
 * milliseconds since the epoch.
 */
export function pastTime(option: string): (text: string, given?: number) => number {
  return (text, given) => {
    if (given !== undefined) throw new CommandError(`${option} is given twice: give it once`, 2);
    return parsePastTime(text);
  };
}

function parsePastTime(text: string): number {
  const day = TIME_FORM.exec(text)?.[1];
  const epochMs = Date.parse(text);
  // `Date.parse` reads February 30 as March 2.
  if (day === undefined || Number.isNaN(epochMs) || !isDay(day)) {
    throw new InvalidArgumentError(
      'use a day such as 2026-11-20 (its start, UTC), or a time with its offset such as 2026-11-20T14:00Z.',
    );
  }
  if (epochMs < 0) throw new InvalidArgumentError('use a time after 1969.');
  if (epochMs > Date.now()) {
    throw new InvalidArgumentError('TIME is in the future: use a time in the past.');
  }
  return epochMs;
}

function isDay(day: string): boolean {
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day);
}
