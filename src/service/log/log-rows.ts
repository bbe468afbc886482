/** Finds rows of logs that no server and no command wrote. A writer of the database could otherwise close a log unnoticed. */
import {
  faultsOf,
  type LedgerStore,
  type LogRecord,
  type LogRowFault,
} from '../../ledger/index.ts';
import type { LogMacKeys } from '../../proof/index.ts';
import { judgeSeal } from './head-seal.ts';

/**
 * Returns the first fault in the rows of all logs; null without one. For a server whose keys are not those of the open log,
 * it also checks that a server started the open one: only a seal shows that, and nothing else would look at it.
 */
export async function firstFault(
  logs: readonly LogRecord[],
  store: Pick<LedgerStore, 'secretChecks'>,
  macs: Pick<LogMacKeys, 'verifiesHead' | 'versions'>,
  ownOrigin: string | null,
): Promise<LogRowFault | null> {
  const [fault] = faultsOf(logs);
  const open = logs.at(-1);
  if (fault || !open || open.origin === ownOrigin) return fault ?? null;
  const verdict = judgeSeal(macs, open.origin, open);
  const isUnknown = verdict === 'unknown_version';
  if (verdict === 'valid' || (isUnknown && (await store.secretChecks()).has(open.seal.version))) {
    return null;
  }
  return { origin: open.origin, found: 'was started, but its head has no seal of a server' };
}

/** Describes a fault for an operator, with what to do. */
export function describeFault({ origin, found }: LogRowFault): string {
  return (
    `the log ${origin} ${found}: no server and no command does that, so something else changed the rows of the database. ` +
    'Save the output of "phm log check". Then restore the database: docs/incidents.md#the-rows-of-the-log-were-changed'
  );
}
