/** The condition of the service, from current knowledge: its sources and generators, its waiting work, its readiness. */
import type { BackgroundSource, SourceName, SourceStatus } from '../entropy/index.ts';
import type { GeneratorStatus } from '../keys/generator.ts';
import type { Latch } from '../keys/latch.ts';
import type { ApiKeyCache } from './access/api-key-cache.ts';
import type { Deliveries } from './deliveries/deliveries.ts';
import type { LedgerWatch } from './ledger/watch.ts';
import type { ServiceLog } from './log/service-log.ts';
import type { ServiceLoad } from './observer.ts';
import { judgeReadiness, type Readiness } from './readiness.ts';
import type { Statistics } from './reading/statistics.ts';
import type { KeyQueue } from './requests/queue.ts';
import { mergeSourceStatuses } from './service-sources.ts';
import type { SuiteLateness } from './suite/limit.ts';
import type { SuitePool } from './suite/pool.ts';

/** Parts of the service that know something of its condition. */
interface Parts {
  readonly latch: Latch;
  readonly background: readonly BackgroundSource[];
  /** Source of requests that name none. */
  readonly defaultSource: SourceName;
  readonly queue: KeyQueue;
  readonly pool: SuitePool;
  readonly lateness: SuiteLateness;
  readonly ledger: LedgerWatch;
  readonly apiKeys: ApiKeyCache;
  readonly statistics: Statistics;
  readonly deliveries: Deliveries;
  /** Null without a log. */
  readonly serviceLog: ServiceLog | null;
}

export class Condition {
  readonly #parts: Parts;
  #keyWorkerStatus: GeneratorStatus;
  #probing = false;

  constructor(parts: Parts, keyWorkerStatus: GeneratorStatus) {
    this.#parts = parts;
    this.#keyWorkerStatus = keyWorkerStatus;
  }

  /** Notes the state of the key worker's generator, which comes with its replies. */
  noteKeyWorker(status: GeneratorStatus): void {
    this.#keyWorkerStatus = status;
  }

  /**
   * Reports whether keys can be generated, recorded and recognised, from current knowledge. It requires `os` and the
   * default source; failures of other sources affect only their own requests. While `entropy` is false, generators try
   * their sources again, so that a recovered source is noticed without traffic.
   */
  checkReadiness(): Readiness {
    const { latch, defaultSource, lateness, ledger, serviceLog } = this.#parts;
    const readiness = judgeReadiness({
      sources: this.sourceStatuses(),
      needed: ['os', defaultSource],
      latched: latch.read(),
      isSuiteLate: lateness.isLate,
      ledger: ledger.status(),
      halt: serviceLog?.halt ?? null,
    });
    if (!readiness.entropy) this.#probe();
    return readiness;
  }

  #probe(): void {
    if (this.#probing) return;
    this.#probing = true;
    this.#parts.pool.probe();
    const done = () => {
      this.#probing = false;
    };
    this.#parts.queue.submit({ kind: 'probe' }).then(done, done);
  }

  /**
   * Returns every source in use, with the draws and failures of all threads. The state of sources that workers read
   * themselves dates from the workers' last work.
   */
  sourceStatuses(): SourceStatus[] {
    return mergeSourceStatuses(this.#generatorStatuses(), this.#parts.background);
  }

  /** Returns waiting work and the state of the generators, as of the workers' last replies. */
  load(): ServiceLoad {
    const { queue, pool, apiKeys, statistics, deliveries, serviceLog } = this.#parts;
    const generators = this.#generatorStatuses();
    return {
      queues: [
        { name: 'keys', ...queue.load },
        { name: 'suite', ...pool.load },
        { name: 'batches', ...pool.batchLoad },
        { name: 'lookups', ...apiKeys.load },
        ...statistics.loads,
        deliveries.load,
        ...(serviceLog ? [serviceLog.load] : []),
      ],
      generators: generators.length,
      reseeds: generators.reduce((sum, { reseeds }) => sum + reseeds, 0),
    };
  }

  #generatorStatuses(): GeneratorStatus[] {
    return [this.#keyWorkerStatus, ...this.#parts.pool.statuses()];
  }
}
