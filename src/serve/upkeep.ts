/** Starts the upkeep of the ledger in a running server. */
import { Maintenance, removedSome, storeLocation } from '../ledger/index.ts';
import type { ServerParts } from './parts.ts';

/** Removes old rows and does the other daily work, and logs the result. */
export function startMaintenance({ config, logger, metrics }: ServerParts): Maintenance {
  return new Maintenance({
    store: storeLocation(config),
    retentionDays: config.retentionDays,
    onPruned: (report) => {
      if (removedSome(report)) logger.info(report, 'old rows were removed from the ledger');
      else logger.warn(report, 'no old rows were removed from the ledger, although some remain');
    },
    onFailure: (reason) => {
      metrics?.upkeepFailed();
      logger.error({ reason }, 'the upkeep of the ledger failed');
    },
  });
}
