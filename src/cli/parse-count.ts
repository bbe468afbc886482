/** Reads whole numbers on the command line. */
import { InvalidArgumentError } from 'commander';

export function parseCount(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text))
    throw new InvalidArgumentError('use a whole number of 1 or more.');
  return Number(text);
}

/** Reads a whole number from 1 to `most`. */
export function parseCountTo(most: number): (text: string) => number {
  return (text) => {
    const count = /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : Number.NaN;
    if (count <= most) return count;
    throw new InvalidArgumentError(`use a whole number from 1 to ${most}.`);
  };
}
