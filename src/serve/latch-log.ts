/** Log lines about a latch, the keys in doubt after it, and a suite that does not answer or start. */
import type { Logger } from 'pino';
import { formatTimestamp, SECOND_MS } from '../clock.ts';
import type { Defect, EvidenceWarning, LatchCause } from '../keys/index.ts';
import type { ReleasedKeys } from '../service/index.ts';

/** Key IDs in one line, about 5 kB. */
const KEY_IDS_A_LINE = 100;

/** Causes that no single sample has shown. So no sample vouches for a key. */
const UNSEEN_BY_SAMPLES: ReadonlySet<LatchCause> = new Set([
  'accumulated',
  'self_test',
  'key_test',
  'repeated_key',
  'altered_key',
]);

export function logLatch(logger: Logger, defect: Defect, { keys, sinceMs }: ReleasedKeys): void {
  const suspect = UNSEEN_BY_SAMPLES.has(defect.cause) && {
    suspect: `all keys of this process since ${formatTimestamp(sinceMs)}`,
    keys,
  };
  logger.error({ ...defect, ...suspect }, 'key generation has stopped');
}

/** Logs what does not end generation: a failure of the gate, or samples that begin to add up to a defect. */
export function logEvidenceWarning(logger: Logger, warning: EvidenceWarning): void {
  if ('failedVerdict' in warning) {
    logger.warn({ ...warning.failedVerdict }, 'statistical gate: failed');
    return;
  }
  const { test, evidence, samples } = warning.accumulated;
  logger.warn({ test, evidence, samples }, 'samples of a generator begin to add up to a defect');
}

/**
 * Logs the ID of every key, in lines of bounded size. Writes at least one line, so that an empty list is explicit.
 * `lastGoodMs` is the time of the last sample that vouches for keys; null if there was none.
 */
export function logUnvouchedKeys(
  logger: Logger,
  keyIds: readonly string[],
  lastGoodMs: number | null,
): void {
  const lastGoodAt = lastGoodMs === null ? null : formatTimestamp(lastGoodMs);
  const parts = Math.max(1, Math.ceil(keyIds.length / KEY_IDS_A_LINE));
  for (let part = 1; part <= parts; part++) {
    const line = keyIds.slice((part - 1) * KEY_IDS_A_LINE, part * KEY_IDS_A_LINE);
    logger.error(
      { part, parts, lastGoodAt, keyIds: line },
      'plain keys released since their generator was last judged good',
    );
  }
}

/** Logs that the suite is late with a sample or a key or, with `isLate` false, that it has answered. */
export function logSuite(logger: Logger, isLate: boolean): void {
  if (isLate)
    logger.error('the suite does not answer: a sample or a key has waited for ten seconds');
  else logger.info('the suite answers again');
}

export function logLostSuiteWorker(logger: Logger, waitedMs: number): void {
  const waitedSeconds = waitedMs / SECOND_MS;
  logger.error({ waitedSeconds }, 'a suite worker did not start: the server goes on without it');
}
