/**
 * The daily upkeep of a server's ledger, in a thread that lives as long as the work does: SQLite's calls
 * would hold up whatever thread they are made on. Servers that share a database may do it at once.
 */

import type { Worker } from 'node:worker_threads';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../clock.ts';
import { endThread, startThread } from '../worker-thread.ts';
import type { StoreLocation } from './location.ts';
import type { PruneReport } from './store.ts';

export interface MaintenanceOptions {
  readonly store: StoreLocation;
  /** Days that ledger rows are kept; null: for ever. */
  readonly retentionDays: number | null;
  /** Told what was removed, for the log; also of nothing, when something that is out of date is left. */
  readonly onPruned: (report: PruneReport) => void;
  /** Told why a turn failed; there will be another. */
  readonly onFailure: (message: string) => void;
  /** Milliseconds to the first turn; left out: a minute, after what a start has to do. */
  readonly firstMs?: number;
}

/** What the thread is told. */
export interface MaintenanceData {
  readonly store: StoreLocation;
  /** Days that ledger rows are kept; null: nothing is removed. */
  readonly retentionDays: number | null;
}

/** What it answers, once. */
export type MaintenanceResult =
  | { readonly kind: 'done'; readonly pruned: PruneReport | null }
  | { readonly kind: 'failed'; readonly message: string };

/** To the first turn of any upkeep after a start, and to the next one after a failure. */
export const FIRST_MS = MINUTE_MS;
export const AFTER_FAILURE_MS = HOUR_MS;

/** How long the piece that is under way may take at the end. */
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

  /** Ends it: at the end of a small piece if it is at work, by force if that takes too long. */
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
    const { store, retentionDays } = this.#options;
    const workerData: MaintenanceData = { store, retentionDays };
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
      if (!this.#stopped) this.#options.onFailure(result.message);
      this.#plan(AFTER_FAILURE_MS);
      return;
    }
    const { pruned } = result;
    if (pruned && (pruned.isPartial || removedSome(pruned))) this.#options.onPruned(pruned);
    this.#plan(DAY_MS);
  }
}

/** Whether a turn has removed anything. */
export function removedSome({ rows, minuteSums, partitions }: PruneReport): boolean {
  return rows > 0 || minuteSums > 0 || partitions.length > 0;
}
