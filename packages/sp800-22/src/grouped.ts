const ENGLISH = new Intl.NumberFormat('en-US');

/** Writes 1000000 as 1,000,000. */
export function grouped(value: number): string {
  return ENGLISH.format(value);
}
