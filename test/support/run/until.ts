/** Waits for what must come, however slow the machine is. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

/** What takes longer never comes: a machine that is ten times slower, or stops for some seconds, needs less. */
export const PATIENCE_MS = 120_000;

const PAUSE_MS = 20;

/**
 * Resolves once `check` is true, and fails if it stays false. `what` names the event, e.g. `both servers are used`. For
 * events that the product promises without a time; a promise about time needs a clock that the test sets.
 */
export async function until(
  what: string,
  check: () => boolean | Promise<boolean>,
  patienceMs: number = PATIENCE_MS,
): Promise<void> {
  const endMs = performance.now() + patienceMs;
  while (!(await check())) {
    assert.ok(performance.now() < endMs, `not within ${patienceMs / 1_000} s: ${what}`);
    await delay(PAUSE_MS);
  }
}
