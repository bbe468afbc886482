/**
 * Compares the rows of logs with each other. One transaction closes a log and starts the next one, at the same time of the
 * clock (`LogStore.startLog`). Any other order was written by something else than a server or a command.
 */
import type { LogRecord } from './log-store.ts';

/** A row that contradicts the others, and what was found. */
export interface LogRowFault {
  readonly origin: string;
  readonly found: string;
}

/** Returns what no server or command writes in the rows of all logs, oldest first. */
export function faultsOf(logs: readonly LogRecord[]): LogRowFault[] {
  return logs.flatMap(({ origin, closedMs }, i) => {
    const next = logs[i + 1];
    const found = faultBetween(closedMs, next);
    return found === null ? [] : [{ origin, found }];
  });
}

function faultBetween(closedMs: number | null, next: LogRecord | undefined): string | null {
  if (next === undefined) return closedMs === null ? null : 'is closed, but no log follows it';
  if (closedMs === null) return `is open, although the log ${next.origin} follows it`;
  return closedMs === next.startedMs
    ? null
    : `was closed at another time than the log ${next.origin} was started, which follows it`;
}
