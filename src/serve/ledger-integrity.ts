/** Checks the embedded database at startup and once a day. */
import type { Logger } from 'pino';
import {
  type CheckReport,
  checkAtStart,
  IntegrityWatch,
  type StartCheck,
  type StoreLocation,
} from '../ledger/index.ts';
import type { KeyService } from '../service/index.ts';
import type { ServiceMetrics } from '../telemetry/index.ts';

/** Checks the embedded database before its first use; null with PostgreSQL. Throws `SetupError` if it is damaged. */
export async function checkDatabase(location: StoreLocation): Promise<StartCheck | null> {
  return location.kind === 'sqlite' ? checkAtStart(location.path) : null;
}

interface WatchOptions {
  readonly location: StoreLocation;
  readonly start: StartCheck | null;
  readonly logger: Logger;
  readonly metrics: ServiceMetrics | null;
  readonly service: KeyService;
}

/** Logs the startup check, checks the embedded database daily, and ends its use if it is damaged. Null with PostgreSQL. */
export function watchIntegrity(options: WatchOptions): IntegrityWatch | null {
  const { location, start, logger, metrics, service } = options;
  if (location.kind !== 'sqlite') return null;
  const { report = null, pending = null } = start ?? {};
  if (report) logReport(logger, report);
  if (pending) logger.warn('the database is still being checked: startup continues');
  return new IntegrityWatch({
    path: location.path,
    pending,
    onReport: (report) => logReport(logger, report),
    onDamage: (damage) => {
      metrics?.events.damageFound();
      service.condemnLedger(damage);
    },
  });
}

function logReport(logger: Logger, { result, check, bytes, ms }: CheckReport): void {
  const details = { check, bytes, ms };
  if (result.kind === 'sound') logger.info(details, 'the database was checked');
  else if (result.kind === 'damaged') {
    logger.error({ ...details, found: result.found }, 'the database is damaged');
  } else logger.warn({ ...details, reason: result.reason }, 'the database could not be checked');
}
