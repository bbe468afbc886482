/** Logs changes of the ledger, of its clock and of the master secret. */
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { formatTimestamp } from '../clock.ts';
import { type ClockReading, isUrgent } from '../ledger/index.ts';
import type { LedgerStatus, RetiredVersion } from '../service/index.ts';

/** Logs that the clock is in doubt, or that the doubt has ended. */
export function logClock(
  logger: Logger,
  reading: ClockReading,
  retentionDays: number | null,
): void {
  const { skewMs, doubt } = reading;
  const level = isUrgent(reading, retentionDays) ? 'error' : 'warn';
  if (doubt === null) logger.info('the clock agrees with the ledger again');
  else logger[level]({ skewSeconds: skewMs / 1000, reason: doubt }, 'the clock is in doubt');
}

/** Logs the differences between two states. */
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
      'another server generates keys under a version of the master secret that this server lacks: ' +
        'install the whole secret and restart this server',
    );
  } else {
    logger.info('the ledger can be used again');
  }
}

/**
 * Logs changed retirements. Warns about those that were undone or now let more rows count, because an attacker with
 * write access to the database can do that.
 */
function logRetired(logger: Logger, { retired }: LedgerStatus, before: LedgerStatus): void {
  const reinstated = before.retired
    .map(({ version }) => version)
    .filter((version) => !retired.some((one) => one.version === version));
  if (reinstated.length > 0) {
    logger.warn({ versions: reinstated }, 'versions of the master secret are no longer retired');
  }
  for (const retirement of retired) {
    const earlier = before.retired.find(({ version }) => version === retirement.version);
    if (isDeepStrictEqual(retirement, earlier)) continue;
    if (earlier && isLooser(retirement, earlier)) logLoosened(logger, retirement, earlier);
    else logRetirement(logger, retirement);
  }
}

/** Reports whether more rows count than before. */
function isLooser({ compromisedMs }: RetiredVersion, earlier: RetiredVersion): boolean {
  return (compromisedMs ?? Infinity) > (earlier.compromisedMs ?? Infinity);
}

function logLoosened(logger: Logger, retirement: RetiredVersion, earlier: RetiredVersion): void {
  const { version, compromisedMs } = retirement;
  logger.warn(
    { version, compromisedSince: timeOf(compromisedMs), before: timeOf(earlier.compromisedMs) },
    'the retirement of a version of the master secret lets more rows count than before',
  );
}

function logRetirement(logger: Logger, { version, compromisedMs, current }: RetiredVersion): void {
  const details = { version, compromisedSince: timeOf(compromisedMs) };
  if (current) {
    logger.error(
      details,
      'the current version of the master secret is retired: this server generates no keys ' +
        'until it is restarted with another version',
    );
  } else {
    logger.info(details, 'a version of the master secret is retired');
  }
}

function timeOf(compromisedMs: number | null): string | null {
  return compromisedMs === null ? null : formatTimestamp(compromisedMs);
}
