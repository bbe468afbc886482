/** Reads whole numbers on the command line. */
import { InvalidArgumentError } from 'commander';

export function parseCount(text: string): number {
  return parseCountAs('a whole number of 1 or more', text);
}

/** Reads a whole number of 1 or more. `wanted` says what the option takes. */
export function parseCountAs(wanted: string, text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) {
    throw new InvalidArgumentError(`use ${wanted}, in at most 15 digits, such as 1048576.`);
  }
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
