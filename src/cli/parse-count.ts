/** A whole number on the command line. */
import { InvalidArgumentError } from 'commander';

export function parseCount(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text))
    throw new InvalidArgumentError('use a whole number from 1 up.');
  return Number(text);
}
