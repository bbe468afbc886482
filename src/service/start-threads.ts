/** Starts the threads of a key service: the key worker, suite workers, the statistics worker, and readers of sources. */
import type { Worker } from 'node:worker_threads';
import { wipe } from '../bytes.ts';
import type { BackgroundSource } from '../entropy/index.ts';
import { Latch } from '../keys/latch.ts';
import { shareWrites } from '../ledger/index.ts';
import { deriveLogMacKeys } from '../proof/index.ts';
import { startThread } from '../worker-thread.ts';
import type { LogWorkerData } from './log/assemble.ts';
import type { LogSetup } from './log/prepare.ts';
import type { KeyServiceOptions } from './options.ts';
import { type ReadyWorker, whenReady, whenUp } from './ready-worker.ts';
import { openBackgroundSources } from './service-sources.ts';
import type { KeyWorkerData } from './threads/key-thread.ts';
import type { StatisticsWorkerData } from './threads/statistics-worker.ts';
import type { SuiteWorkerData } from './threads/suite-worker.ts';

export interface Threads {
  /** Shared by all of them. */
  readonly latch: Latch;
  readonly background: readonly BackgroundSource[];
  /** The key worker, followed by the suite workers. */
  readonly ready: readonly ReadyWorker[];
  readonly statisticsWorker: Worker;
  /** Null without a log. */
  readonly logWorker: Worker | null;
}

/** Starts all threads and waits until each is ready. Throws `SetupError`. */
export async function startThreads(options: KeyServiceOptions): Promise<Threads> {
  const { secret } = options;
  const store = shareWrites(options.store);
  const background = await openBackgroundSources(options.sources, options.onSourceEvent);
  const { names, mix } = options.sources;
  const sources = { names, mix, pools: background.map(({ pool }) => pool) };
  const latch = Latch.forThreads(1 + options.suiteWorkers);
  const log = options.log?.binding ?? null;
  const keyWorkerData: KeyWorkerData = { store, sources, secret, latch: latch.memory, log };
  const suiteWorkerData: SuiteWorkerData = { sources, secret, latch: latch.memory, log };
  const workers = [
    start('phm-keys', './threads/key-thread.ts', keyWorkerData),
    ...Array.from({ length: options.suiteWorkers }, () =>
      start('phm-suite', './threads/suite-worker.ts', suiteWorkerData),
    ),
  ];
  const statisticsData: StatisticsWorkerData = { store };
  const statisticsWorker = start('phm-stats', './threads/statistics-worker.ts', statisticsData);
  const logWorker = options.log && startLogWorker({ ...options, store }, options.log);
  const others = logWorker ? [statisticsWorker, logWorker] : [statisticsWorker];
  try {
    const [ready] = await Promise.all([
      Promise.all(workers.map(whenReady)),
      Promise.all(others.map((worker) => whenUp(worker))),
    ]);
    return { latch, background, ready, statisticsWorker, logWorker };
  } catch (error) {
    await Promise.all([...workers, ...others].map((worker) => worker.terminate()));
    await Promise.all(background.map((source) => source.close()));
    throw error;
  }
}

function startLogWorker({ store, secret }: KeyServiceOptions, setup: LogSetup): Worker {
  const { binding, policy: _, witnessNames: __, ...rest } = setup;
  const macKeys = deriveLogMacKeys(secret.versions);
  const version = secret.currentVersion;
  const data: LogWorkerData = { ...rest, store, log: binding, macKeys, version };
  const worker = start('phm-log', './threads/log-worker.ts', data);
  wipe(...macKeys.map(({ subkey }) => subkey));
  return worker;
}

function start(name: string, file: string, workerData: unknown): Worker {
  return startThread(new URL(file, import.meta.url), { name, workerData });
}
