import { assertNumber } from './arguments.ts';

const ENGLISH = new Intl.NumberFormat('en-US');

/** Writes 1000000 as 1,000,000. */
export function grouped(value: number): string {
  assertNumber('value', value, 'a number', (one) => !Number.isNaN(one));
  return ENGLISH.format(value);
}
