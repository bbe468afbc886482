/** Finds the open log of a ledger. */
import { CommandError } from '#platform/commands';
import { faultsOf, type LogRecord } from '../../ledger/index.ts';
import { describeFault } from '../../service/offline.ts';

/** Returns the open log. Throws `CommandError` if there is none, or if the rows of the logs are not as servers leave them. */
export function openLogOf<T extends LogRecord>(logs: readonly T[]): T {
  requireSoundRows(logs);
  requireLogs(logs);
  return logs[logs.length - 1];
}

/** Throws `CommandError` if there is no log. */
export function requireLogs({ length }: readonly LogRecord[]): void {
  if (length > 0) return;
  throw new CommandError('this ledger has no log. To start one: phm log init', 1);
}

/** Throws `CommandError` if something else than servers and commands changed the rows of the logs. */
export function requireSoundRows(logs: readonly LogRecord[]): void {
  const [fault] = faultsOf(logs);
  if (fault) throw new CommandError(describeFault(fault), 1);
}
