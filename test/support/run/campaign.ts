/**
 * The size of a campaign. `npm run campaign` runs all of it; `.ci/run`, and a file that is run alone, a small fixed sample,
 * which shows that the campaign works. Figures are the diagnostics of its tests: the runner keeps them in its record.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

/** Set by the runner. */
const isFull = process.env.PHM_CAMPAIGN === 'full';

/** Returns the value for the size of this run. */
export function sized<T>({ sample, full }: { readonly sample: T; readonly full: T }): T {
  return isFull ? full : sample;
}

/** The reason to leave a test out of a sample, or false. */
export const fullOnly: string | false = !isFull && 'only npm run campaign runs it';

/** A promise about wall-clock time. */
interface TimeLimit {
  readonly name: string;
  readonly value: number;
  readonly atMost: number;
  readonly unit: string;
}

/**
 * Prints a figure about wall-clock time with its limit. A full campaign, which has the machine to itself, fails above the
 * limit. A sample only prints.
 */
export function reportTime(test: TestContext, { name, value, atMost, unit }: TimeLimit): void {
  const text = `${name}: ${Number(value.toPrecision(3))} ${unit}, limit ${atMost} ${unit}`;
  test.diagnostic(text);
  if (isFull) assert.ok(value <= atMost, text);
}
