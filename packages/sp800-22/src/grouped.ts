import { assertNumber } from './arguments.ts';

/** Made when a report needs it: it loads the data of languages, and threads that only judge keys write no report. */
let english: Intl.NumberFormat | undefined;

/** Writes 1000000 as 1,000,000. */
export function grouped(value: number): string {
  assertNumber('value', value, 'a number', (one) => !Number.isNaN(one));
  english ??= new Intl.NumberFormat('en-US');
  return english.format(value);
}
