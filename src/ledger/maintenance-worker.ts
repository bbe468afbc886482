/** The thread of one maintenance run: opens the store, does the work, reports the result and ends. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { DAY_MS, systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { logThreadWarnings } from '../process/process-log.ts';
import { requireProgram } from '../process/version.ts';
import type { MaintenanceData, MaintenanceResult } from './maintenance.ts';
import { openStore } from './open.ts';
import type { LedgerStore, PruneReport } from './store.ts';

async function work(
  { store: location, retentionDays, software }: MaintenanceData,
  signal: AbortSignal,
): Promise<MaintenanceResult> {
  requireProgram(software);
  // This thread commits nothing, so it needs no quotas.
  const store = await openStore(location, {});
  try {
    await store.maintain(systemClock);
    const pruned = retentionDays === null ? null : await prune(store, retentionDays, signal);
    const indexFailure = await store.completeIndexes(signal).then(() => null, reasonOf);
    return { kind: 'done', pruned, indexFailure };
  } finally {
    await store.close();
  }
}

function prune(store: LedgerStore, days: number, signal: AbortSignal): Promise<PruneReport> {
  return store.prune({ keepMs: days * DAY_MS, clock: systemClock, dryRun: false, signal });
}

/** Returns the message of the database or the setup. Neither holds a password. */
function reasonOf(error: unknown): string {
  const cause = error instanceof AppError ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

async function run(port: MessagePort): Promise<void> {
  logThreadWarnings();
  const stop = new AbortController();
  port.once('message', () => stop.abort());
  const result: MaintenanceResult = await work(workerData, stop.signal).catch((error) => ({
    kind: 'failed',
    message: reasonOf(error),
  }));
  port.postMessage(result);
  port.close();
}

// Without top-level await: V8 aborts the process if a thread is terminated during it.
if (parentPort) void run(parentPort);
