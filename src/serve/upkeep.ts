/** What a running server does for its ledger beside requests. */
import { Maintenance, removedSome, storeLocation } from '../ledger/index.ts';
import type { ServerParts } from './parts.ts';

/** Has old rows removed, and whatever else a day needs; the log says what was done. */
export function startMaintenance({ config, logger, metrics }: ServerParts): Maintenance {
  return new Maintenance({
    store: storeLocation(config),
    retentionDays: config.retentionDays,
    onPruned: (report) => {
      if (removedSome(report)) logger.info(report, 'old rows were removed from the ledger');
      else logger.warn(report, 'no old row was removed from the ledger, although some are left');
    },
    onFailure: (reason) => {
      metrics?.upkeepFailed();
      logger.error({ reason }, 'the upkeep of the ledger failed');
    },
  });
}
