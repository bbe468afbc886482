/** Logs events of the transparency log. */
import type { Logger } from 'pino';
import type { LogNotice } from '../service/index.ts';

/** Writes one line for an event that an operator should know. Published heads get none. */
export function logNotice(logger: Logger, notice: LogNotice): void {
  switch (notice.kind) {
    case 'stopped':
      logger.error({ reason: notice.reason }, 'the transparency log has stopped');
      break;
    case 'resumed':
      logger.info('the transparency log runs again');
      break;
    case 'delayed':
      if (notice.reason === null) logger.info('the transparency log takes turns again');
      else logger.warn({ reason: notice.reason }, 'the transparency log is delayed');
      break;
    case 'set_aside':
      logger.error(
        { entries: notice.entries },
        'entries were set aside: the log did not make them, or they were changed',
      );
      break;
    case 'altered':
      logger.error({ keyId: notice.keyId, reason: notice.reason }, 'a receipt was refused');
      break;
    case 'audit_lost':
      logger.error({ reason: notice.reason }, 'an administrative action was not recorded');
      break;
    case 'witness':
      logWitness(logger, notice);
      break;
    default:
  }
}

function logWitness(
  logger: Logger,
  { witness, reason }: Extract<LogNotice, { kind: 'witness' }>,
): void {
  if (reason === null) logger.info({ witness }, 'a witness cosigns again');
  else logger.warn({ witness, reason }, 'a witness did not cosign');
}
