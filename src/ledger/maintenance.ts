/**
 * The daily upkeep of a server's ledger. It runs in a separate thread, because SQLite's calls block their
 * thread, and the thread ends with the work. Servers that share a database may do it at the same time.
 */

import type { Worker } from 'node:worker_threads';
import { endThread, startThread } from '#platform/threads';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../clock.ts';
import { changedProgram, softwareName } from '../process/version.ts';
import type { StoreLocation } from './location.ts';
import type { PruneReport } from './store.ts';

interface MaintenanceOptions {
  readonly store: StoreLocation;
  /** Days that ledger rows are kept; null: for ever. */
  readonly retentionDays: number | null;
  /**
   * Receives what was removed, for the log. Also called if nothing was removed although old rows remain.
   */
  readonly onPruned: (report: PruneReport) => void;
  /** Receives the reason of a failed run. Another run follows. */
  readonly onFailure: (message: string) => void;
  /** Milliseconds to the first run. The default is a minute, so that it does not delay startup. */
  readonly firstMs?: number;
  /** `softwareName()` when the server started, the default. The thread refuses to run other code. */
  readonly software?: string;
}

/** Input of the thread. */
export interface MaintenanceData {
  readonly store: StoreLocation;
  /** Days that ledger rows are kept; null: nothing is removed. */
  readonly retentionDays: number | null;
  readonly software: string;
}

/** The thread's one message. */
export type MaintenanceResult =
  | {
      readonly kind: 'done';
      readonly pruned: PruneReport | null;
      /** Why an index is still incomplete; null if none is. */
      readonly indexFailure: string | null;
    }
  | { readonly kind: 'failed'; readonly message: string };

/** Delay of the first upkeep of any kind after startup, and of a retry after a failure. */
export const FIRST_MS = MINUTE_MS;
export const AFTER_FAILURE_MS = HOUR_MS;

/** Limit of the time that shutdown waits for the piece in progress. */
const STOP_LIMIT_MS = 5_000;

export class Maintenance {
  readonly #options: MaintenanceOptions;
  #timer: NodeJS.Timeout | undefined;
  #worker: Worker | null = null;
  #stopped = false;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
    this.#plan(options.firstMs ?? FIRST_MS);
  }

  /** Stops the upkeep: after the piece in progress, or by force if that takes too long. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    if (this.#worker) await endThread(this.#worker, STOP_LIMIT_MS);
  }

  #plan(afterMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => this.#begin(), afterMs);
    this.#timer.unref();
  }

  #begin(): void {
    const { store, retentionDays, software = softwareName() } = this.#options;
    const workerData: MaintenanceData = { store, retentionDays, software };
    const worker = startThread(new URL('./maintenance-worker.ts', import.meta.url), { workerData });
    this.#worker = worker;
    let result: MaintenanceResult = { kind: 'failed', message: 'it ended without a result' };
    worker.on('message', (message: MaintenanceResult) => {
      result = message;
    });
    worker.on('error', (error) => {
      result = { kind: 'failed', message: (error as Error).name };
    });
    worker.on('exit', () => {
      this.#worker = null;
      this.#end(result);
    });
  }

  #end(result: MaintenanceResult): void {
    if (result.kind === 'failed') {
      if (!this.#stopped) this.#options.onFailure(changedProgram() ?? result.message);
      this.#plan(AFTER_FAILURE_MS);
      return;
    }
    const { pruned, indexFailure } = result;
    if (pruned && (pruned.isPartial || removedSome(pruned))) this.#options.onPruned(pruned);
    if (indexFailure !== null && !this.#stopped) this.#options.onFailure(indexFailure);
    this.#plan(indexFailure === null ? DAY_MS : AFTER_FAILURE_MS);
  }
}

/** Returns true if a run removed anything. */
export function removedSome({ rows, minuteSums, partitions }: PruneReport): boolean {
  return rows > 0 || minuteSums > 0 || partitions.length > 0;
}
