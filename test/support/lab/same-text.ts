/** Compares reports. */
import assert from 'node:assert/strict';

/** Fails with the place of the first difference: reports are too long for a message. */
export function assertSameText(actual: string, expected: string, name: string): void {
  if (actual === expected) return;
  let at = 0;
  while (actual[at] === expected[at]) at++;
  const near = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 80), at + 80));
  assert.fail(
    `${name} differs at character ${at}: got ${near(actual)}, expected ${near(expected)}`,
  );
}

/** Returns a report without its time of creation. The running head of a page has it in CSS, where colons are escaped. */
export const withoutTime = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d(?::|\\3a )\d\d(?::|\\3a )\d\dZ/g, 'TIME');
