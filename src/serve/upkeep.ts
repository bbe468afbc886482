/** Starts the upkeep of the ledger in a running server. */
import { formatTimestamp } from '../clock.ts';
import { type LedgerIdentity, Maintenance, removedSome, serverLocation } from '../ledger/index.ts';
import type { KeyService } from '../service/index.ts';
import type { ServerParts } from './parts.ts';

/**
 * Removes old rows and does the other daily work, and logs the result. The time up to which rows were removed becomes an
 * entry of the transparency log, which explains the missing rows.
 */
export function startMaintenance(
  { config, logger, metrics }: ServerParts,
  service: Pick<KeyService, 'audit'>,
  ledger: LedgerIdentity,
): Maintenance {
  return new Maintenance({
    store: serverLocation(config, ledger),
    retentionDays: config.retentionDays,
    onPruned: (report) => {
      const { rows, partitions, beforeMs } = report;
      if (rows > 0 || partitions.length > 0) {
        service.audit('pruned', { before: formatTimestamp(beforeMs), rows });
      }
      if (removedSome(report)) logger.info(report, 'old rows were removed from the ledger');
      else logger.warn(report, 'no old rows were removed from the ledger, although some remain');
    },
    onFailure: (reason) => {
      metrics?.events.upkeepFailed();
      logger.error({ reason }, 'the upkeep of the ledger failed');
    },
  });
}
