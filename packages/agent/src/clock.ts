/** Time, which tests set. */
import { setTimeout as delay } from 'node:timers/promises';

export interface Clock {
  /** Wall clock in ms since 1970: lives of keys end by it. */
  nowMs(): number;
  /** Resolves after `ms`, or as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
};
