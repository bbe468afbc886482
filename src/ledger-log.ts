/** What the log says of the ledger and of the master secret that belongs to it, when something changes. */
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { formatTimestamp } from './clock.ts';
import type { LedgerStatus } from './keys/index.ts';

/** Logs what is different from before. */
export function logLedger(logger: Logger, status: LedgerStatus, before: LedgerStatus): void {
  if (!isDeepStrictEqual(status.retired, before.retired)) logRetired(logger, status, before);
  const { failure, lackedVersions } = status;
  const isSame =
    (failure === null) === (before.failure === null) &&
    lackedVersions.join() === before.lackedVersions.join();
  if (isSame) return;
  if (failure !== null) {
    logger.error({ reason: failure }, 'the ledger cannot be used');
  } else if (lackedVersions.length > 0) {
    logger.error(
      { lackedVersions },
      'another server makes keys under a version of the master secret that this one lacks: ' +
        'give it the whole secret and restart it',
    );
  } else {
    logger.info('the ledger can be used again');
  }
}

/** Logs retirements as they are now, and those taken back: an attacker who writes to the database can do that. */
function logRetired(logger: Logger, { retired }: LedgerStatus, before: LedgerStatus): void {
  const reinstated = before.retired
    .map(({ version }) => version)
    .filter((version) => !retired.some((one) => one.version === version));
  if (reinstated.length > 0) {
    logger.warn({ versions: reinstated }, 'versions of the master secret are no longer retired');
  }
  for (const { version, compromisedMs, current } of retired) {
    const since = compromisedMs === null ? null : formatTimestamp(compromisedMs);
    const details = { version, compromisedSince: since };
    if (current) {
      logger.error(
        details,
        'the version of the master secret that this server makes keys under is retired: it makes none ' +
          'until it is restarted with another one',
      );
    } else {
      logger.info(details, 'a version of the master secret is retired');
    }
  }
}
