/** Starts the threads of a key service: the key worker, a suite worker, the log worker, and readers of sources. */

import type { Worker } from 'node:worker_threads';
import { startThread } from '#platform/threads';
import { wipe } from '../../bytes.ts';
import type { BackgroundSource } from '../../entropy/index.ts';
import { Latch } from '../../keys/latch.ts';
import { type StoreLocation, shareAmongThreads } from '../../ledger/index.ts';
import { softwareName } from '../../process/version.ts';
import { deriveLogMacKeys } from '../../proof/index.ts';
import type { LogWorkerData } from '../log/assemble.ts';
import type { LogSetup } from '../log/setup.ts';
import type { KeyServiceOptions } from '../options.ts';
import { StatisticsThread } from '../reading/statistics-thread.ts';
import { openBackgroundSources } from '../service-sources.ts';
import type { KeyWorkerData } from './key-thread.ts';
import { type ReadyWorker, readyWorker, whenUp } from './ready-worker.ts';
import type { StatisticsWorkerData } from './statistics-worker.ts';
import type { SuiteWorkerData } from './suite-worker.ts';
import { startWaitingThreads, YOUNG_MIB } from './waiting-threads.ts';

export interface Threads {
  /** The ledger, for further threads. */
  readonly store: StoreLocation;
  /** Shared by all of them. */
  readonly latch: Latch;
  readonly background: readonly BackgroundSource[];
  readonly keyWorker: ReadyWorker;
  /** The first suite worker. */
  readonly suiteWorker: ReadyWorker;
  /** Data of further suite workers, with the caller's master secret. */
  readonly suiteWorkerData: SuiteWorkerData;
  /** Null without a log. */
  readonly logWorker: Worker | null;
}

/**
 * Starts all threads but the statistics worker and further suite workers, and waits until each is ready. On any failure it
 * first ends those that it started or was given. Throws `SetupError`.
 */
export async function startThreads(options: KeyServiceOptions): Promise<Threads> {
  const { keyWorker, suiteWorker } = options.threads ?? startWaitingThreads();
  const workers = [keyWorker.worker, suiteWorker.worker];
  let background: readonly BackgroundSource[] = [];
  try {
    background = await openBackgroundSources(options.sources, options.onSourceEvent);
    const { keyWorkerData, suiteWorkerData, store, latch } = dataOf(options, background);
    const starting = [keyWorker.start(keyWorkerData), suiteWorker.start(suiteWorkerData)] as const;
    const logWorker = options.log && startLogWorker({ ...options, store }, options.log);
    if (logWorker) workers.push(logWorker);
    const [keyWorkerUp, suiteWorkerUp] = await Promise.all([
      ...starting,
      logWorker && whenUp(logWorker),
    ]);
    return {
      store,
      latch,
      background,
      keyWorker: readyWorker(keyWorker.worker, keyWorkerUp),
      suiteWorker: readyWorker(suiteWorker.worker, suiteWorkerUp),
      suiteWorkerData,
      logWorker,
    };
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.terminate()));
    await Promise.all(background.map((source) => source.close()));
    throw error;
  }
}

/** Returns the data of the key worker and the suite workers, and what they share. */
function dataOf(
  { sources: { names, mix }, secret, suiteWorkers, log, ...options }: KeyServiceOptions,
  background: readonly BackgroundSource[],
) {
  const store = shareAmongThreads(options.store);
  // The main thread, the key worker and the suite workers.
  const latch = Latch.forThreads(2 + suiteWorkers);
  const sources = { names, mix, pools: background.map(({ pool }) => pool) };
  const suiteWorkerData: SuiteWorkerData = {
    sources,
    secret,
    latch: latch.memory,
    log: log?.binding ?? null,
  };
  const keyWorkerData: KeyWorkerData = { ...suiteWorkerData, store, quotas: options.quotas };
  return { store, latch, keyWorkerData, suiteWorkerData };
}

function startLogWorker({ store, secret }: KeyServiceOptions, setup: LogSetup): Worker {
  const { binding, policy: _, witnessNames: __, ...rest } = setup;
  const macKeys = deriveLogMacKeys(secret.versions);
  const version = secret.currentVersion;
  const data: LogWorkerData = { ...rest, store, log: binding, macKeys, version };
  const worker = start('phm-log', './log-worker.ts', data);
  wipe(...macKeys.map(({ subkey }) => subkey));
  return worker;
}

/**
 * Returns the statistics worker, which starts for its first query and opens the ledger itself. `software` names the program
 * that the server runs: the worker refuses to start from another one.
 */
export function statisticsThread(
  store: StoreLocation,
  onFatal: (error: Error) => void,
  software: string = softwareName(),
): StatisticsThread {
  const data: StatisticsWorkerData = { store, software };
  return new StatisticsThread({
    start: () => start('phm-stats', './statistics-worker.ts', data),
    onFatal,
  });
}

function start(name: string, file: string, workerData: unknown): Worker {
  return startThread(new URL(file, import.meta.url), { name, workerData, youngMiB: YOUNG_MIB });
}
