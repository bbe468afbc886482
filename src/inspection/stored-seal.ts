/** Refuses a stored head that no server wrote, before a command signs or extends it. */
import { SetupError } from '../errors.ts';
import type { LogRecord } from '../ledger/index.ts';
import type { LogMacKeys } from '../proof/index.ts';
import { judgeSeal } from '../service/offline.ts';
import { describeCheckpoint } from './trust.ts';

/** Throws `SetupError` unless the head carries a seal under the master secret. */
export function requireSeal(macs: LogMacKeys, log: LogRecord): void {
  const { origin, seal } = log;
  const verdict = judgeSeal(macs, origin, log);
  if (verdict === 'valid') return;
  const head = `the stored head of the log ${origin}, ${describeCheckpoint(log)},`;
  throw new SetupError(
    verdict === 'wrong'
      ? `${head} has a wrong seal: no server wrote it. Restore the database, and run: phm log check`
      : `${head} was sealed under version ${seal.version} of the master secret, which the given secret lacks: set ` +
          'PHM_MASTER_KEY_FILE or PHM_MASTER_KEY to the whole secret. If no server ever had this version, restore the ' +
          'database',
  );
}
