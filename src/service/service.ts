/**
 * The key service as the HTTP layer sees it: generate, validate, read an account's activity, authenticate.
 *
 * It runs on the main thread and delegates all work: single plain keys, validations and every write go to the key worker,
 * all other keys to suite workers first.
 */

import type { Worker } from 'node:worker_threads';
import { endThread } from '#platform/threads';
import type { JsonObject } from '#tlog';
import { monotonicMs } from '../clock.ts';
import type { BackgroundSource, SourceStatus } from '../entropy/index.ts';
import { type AppError, reasonOf, SetupError } from '../errors.ts';
import type { GeneratorStatus } from '../keys/generator.ts';
import type { Latch } from '../keys/latch.ts';
import type { GenerateOutcome, KeyRequest } from '../keys/order.ts';
import type { ValidateOutcome } from '../keys/validate.ts';
import type {
  AccountActivity,
  AuditAction,
  ClockReading,
  PeriodSums,
  Principal,
  SeriesQuery,
  Usage,
} from '../ledger/index.ts';
import { BOX_LIMITS } from '../ledger/index.ts';
import { ApiKeyCache, type Found } from './access/api-key-cache.ts';
import { ApiKeyUses } from './access/api-key-uses.ts';
import { Condition } from './condition.ts';
import { Deliveries } from './deliveries/deliveries.ts';
import { ClockWatch } from './ledger/clock-watch.ts';
import { LedgerWatch } from './ledger/watch.ts';
import { absentLog, type LogApi } from './log/api.ts';
import { openServiceLog } from './log/open.ts';
import type { ServiceLog } from './log/service-log.ts';
import type { ServiceLoad, StageListener } from './observer.ts';
import type { KeyServiceOptions } from './options.ts';
import type { Readiness } from './readiness.ts';
import { KeyRecords } from './reading/key-records.ts';
import type { Randomness, RandomnessQuery } from './reading/randomness.ts';
import { Statistics } from './reading/statistics.ts';
import { type GenerateOptions, KeyRequests } from './requests/key-requests.ts';
import { MeteredRequests } from './requests/metered-requests.ts';
import { KeyQueue, type SettledResult } from './requests/queue.ts';
import { Releases } from './requests/releases.ts';
import { EvidenceWatch } from './suite/evidence-watch.ts';
import { JoiningWorkers } from './suite/joining-workers.ts';
import { SuiteLateness, suiteLateError } from './suite/limit.ts';
import { SuitePool } from './suite/pool.ts';
import { toError, unexpected } from './threads/failures.ts';
import type { KeyTask, KeyWorkerMessage, KeyWorkerReply } from './threads/messages.ts';
import { type ReadyWorker, reportEnd, whenAnswered } from './threads/ready-worker.ts';
import { startThreads, statisticsThread, type Threads } from './threads/start-threads.ts';
import type { ActivityQuery } from './threads/statistics-messages.ts';
import type { SuiteWorkerData } from './threads/suite-worker.ts';
import { waitingSuiteWorker } from './threads/waiting-threads.ts';

/** Time limit for threads to end after their current work, which is at most one key. */
const END_LIMIT_MS = 2_000;

export class KeyService {
  /** The transparency log. */
  readonly log: LogApi;
  /** The keys of each account. */
  readonly records: KeyRecords;
  /** The boxes of its recipients. */
  readonly deliveries: Deliveries;
  readonly #options: KeyServiceOptions;
  /** Null once its defect is noted. */
  #latch: Latch | null;
  /** The key worker, and the suite workers that have joined. */
  readonly #workers: Worker[];
  readonly #joining: JoiningWorkers;
  readonly #logWorker: Worker | null;
  readonly #serviceLog: ServiceLog | null;
  readonly #queue: KeyQueue;
  readonly #ledger: LedgerWatch;
  readonly #clock: ClockWatch;
  readonly #lateness: SuiteLateness;
  readonly #pool: SuitePool;
  readonly #evidence: EvidenceWatch;
  readonly #statistics: Statistics;
  readonly #apiKeys: ApiKeyCache;
  readonly #uses: ApiKeyUses;
  readonly #metered: MeteredRequests;
  readonly #releases: Releases;
  readonly #keys: KeyRequests;
  readonly #background: readonly BackgroundSource[];
  readonly #startMs: number;
  readonly #condition: Condition;
  #closing = false;

  private constructor(
    options: KeyServiceOptions,
    { store, latch, background, keyWorker, suiteWorker, logWorker }: Threads,
  ) {
    this.#options = options;
    this.#startMs = options.clock.nowMs();
    this.#latch = latch;
    void latch.whenSet().then(() => this.#noteLatch());
    this.#background = background;
    this.#workers = [keyWorker.worker];
    const { observer, clock } = options;
    this.#logWorker = logWorker;
    this.#serviceLog = logWorker && options.log && openServiceLog(logWorker, options.log, options);
    this.log = this.#serviceLog ?? absentLog('off');
    const onStatus = (status: GeneratorStatus) => this.#condition.noteKeyWorker(status);
    this.#queue = new KeyQueue(keyWorker.worker, onStatus, observer);
    const { onLedgerChange, onOwnApiKeys, onClockChange = () => {}, clockAtStart } = options;
    this.#clock = new ClockWatch(keyWorker.worker, onClockChange, clockAtStart);
    this.#ledger = new LedgerWatch(
      keyWorker.worker,
      () => this.#queue.batches,
      onLedgerChange,
      onOwnApiKeys,
    );
    this.#lateness = new SuiteLateness(options.onSuiteLate);
    this.#pool = new SuitePool(latch, { ...options, observer }, this.#lateness);
    this.#statistics = new Statistics(statisticsThread(store, options.onFatal), store, observer);
    const submit = (task: KeyTask) => this.#submit(task);
    this.records = new KeyRecords(this.#statistics, submit);
    this.deliveries = new Deliveries({ statistics: this.#statistics, submit, clock, observer });
    this.#evidence = new EvidenceWatch(keyWorker.worker, this.#pool, this.#lateness);
    keyWorker.worker.on('message', (message: KeyWorkerReply) => {
      if ('failedVerdict' in message || 'accumulated' in message) {
        options.onEvidenceWarning(message);
      } else if ('databaseHost' in message) options.onDatabaseMove?.(message.databaseHost);
      else if ('unvouchedKeys' in message) {
        options.onUnvouchedKeys(message.unvouchedKeys, message.lastGoodMs);
      } else if ('commit' in message && message.commit && message.commit.keys > 0) {
        this.#serviceLog?.recorded();
      }
    });
    this.#apiKeys = new ApiKeyCache((keyHashes) => this.#lookUpPrincipals(keyHashes), observer);
    this.#uses = new ApiKeyUses(clock, (apiKeyIds, hour) =>
      this.#submit({ kind: 'note_uses', apiKeyIds, hour }),
    );
    this.#metered = new MeteredRequests({
      queue: this.#queue,
      apiKeys: this.#apiKeys,
      clock,
      quotaNowMs: () => this.quotaNowMs(),
      observer,
    });
    const halt = () => this.#serviceLog?.halt ?? null;
    this.#releases = new Releases({ latch, halt, queue: this.#queue });
    this.#keys = new KeyRequests({
      queue: this.#queue,
      pool: this.#pool,
      evidence: this.#evidence,
      ledger: this.#ledger,
      halt,
      metered: this.#metered,
      releases: this.#releases,
      observer,
      boxLimits: options.boxLimits ?? BOX_LIMITS,
      onDelivered: (accountId, recipients) => this.deliveries.noteDelivered(accountId, recipients),
    });
    this.#condition = new Condition(
      {
        latch,
        background,
        defaultSource: options.sources.default,
        queue: this.#queue,
        pool: this.#pool,
        lateness: this.#lateness,
        ledger: this.#ledger,
        apiKeys: this.#apiKeys,
        statistics: this.#statistics,
        deliveries: this.deliveries,
        serviceLog: this.#serviceLog,
      },
      keyWorker.status,
    );
    for (const worker of [keyWorker.worker, logWorker]) if (worker) this.#watch(worker);
    this.#join(suiteWorker);
    this.#joining = new JoiningWorkers({
      onJoined: (ready) => this.#join(ready),
      onLost: options.onSuiteWorkerLost,
      onFatal: options.onFatal,
    });
  }

  /**
   * Starts the workers. Waits until the key worker and one suite worker have passed their self-tests and the generator of plain
   * keys has evidence. Further suite workers start then, so that readiness does not wait for them. Throws `SetupError`.
   */
  static async start(options: KeyServiceOptions): Promise<KeyService> {
    const threads = await startThreads(options);
    const service = new KeyService(options, threads);
    try {
      await service.#submit({ kind: 'gather_evidence', isLast: false });
      service.#startFurther(threads.suiteWorkerData);
      return service;
    } catch (cause) {
      await service.close();
      const text = `the generator of plain keys cannot be judged: ${reasonOf(cause)}`;
      throw new SetupError(text, { cause });
    }
  }

  /**
   * Generates and records the keys of a request: all of them, or none. If a defect was found after their rows became
   * durable, the keys are wiped and the rows stay.
   */
  generate(
    principal: Principal,
    request: KeyRequest,
    options: GenerateOptions,
  ): Promise<GenerateOutcome> {
    return this.#keys.generate(principal, request, options);
  }

  /** As `Releases.refuseUnsound`. MUST be called after each wait between `generate` and the answer. */
  refuseUnsound(outcome: Parameters<Releases['refuseUnsound']>[0]): Promise<never> | undefined {
    return this.#releases.refuseUnsound(outcome);
  }

  /** Latches the process, because the text of an answer is not of its keys. Returns the error of the request. */
  refuseAnswer(): AppError {
    return this.#releases.refuseAnswer();
  }

  /** Validates a key given as text, and counts the request. */
  validate(
    principal: Principal,
    keyText: string,
    proof: string | undefined,
    onStage?: StageListener,
  ): Promise<ValidateOutcome> {
    return this.#metered.validate(principal, keyText, proof, onStage);
  }

  /** Returns sums of an account since a time. They count every request answered before, including failures. */
  async activity(query: ActivityQuery): Promise<AccountActivity> {
    await this.#queue.flushFailures();
    return this.#statistics.activity(query);
  }

  /** Returns sums of an account over time, one for each step. */
  series(query: SeriesQuery): Promise<readonly PeriodSums[]> {
    return this.#statistics.series(query);
  }

  /** Returns the size of the database in bytes. The caller MUST ask for one at a time. */
  databaseBytes(): Promise<number> {
    return this.#statistics.databaseBytes();
  }

  /** Judges the evidence of an account's latest keys. */
  randomness(query: RandomnessQuery): Promise<Randomness> {
    return this.#statistics.randomness(query);
  }

  /**
   * Returns the principal of an API key by its hash, or a promise of it if it must be looked up. Look-ups of new API keys
   * take turns by `address`, the client's address.
   */
  authenticate(keyHash: Uint8Array, address: string): Found | Promise<Found> {
    return this.#apiKeys.find(keyHash, address, monotonicMs());
  }

  /** Notes that an API key was used. Costs a look-up in memory. */
  noteUse(principal: Principal): void {
    this.#uses.note(principal);
  }

  usageOf(principal: Principal): Usage {
    return this.#apiKeys.usageOf(principal);
  }

  /** Returns the time on the clock of quota months, which the ledger chooses. */
  quotaNowMs(): number {
    return this.#clock.toQuotaTime(this.#options.clock.nowMs());
  }

  /** Returns the host of PostgreSQL in use, as of the last check; null if there is none. */
  databaseHost(): string | null {
    return this.#ledger.status().host;
  }

  /** Returns the comparison of this machine's clock with the ledger, as of the last check. */
  clockReading(): ClockReading {
    return this.#clock.reading();
  }

  /** Reports whether keys can be generated, recorded and recognised, from current knowledge. */
  checkReadiness(): Readiness {
    return this.#condition.checkReadiness();
  }

  /** Returns every source in use, with the draws and failures of all threads. */
  sourceStatuses(): SourceStatus[] {
    return this.#condition.sourceStatuses();
  }

  /** Stops using the ledger, because a check found it damaged. */
  condemnLedger(damage: string): void {
    this.#workers[0]?.postMessage({ damage } satisfies KeyWorkerMessage);
    this.#statistics.condemn(damage);
    this.#serviceLog?.condemn(damage);
  }

  /** Records an administrative action of this server as an entry of the log. Does nothing without a log. */
  audit(action: AuditAction, details: JsonObject): void {
    this.#serviceLog?.audit(action, details);
  }

  /** Returns waiting work and the state of the generators, as of the workers' last replies. */
  load(): ServiceLoad {
    return this.#condition.load();
  }

  /**
   * Gathers evidence on the last plain keys, and ends the workers after their current work. The caller must have stopped
   * submitting.
   */
  async close(): Promise<void> {
    const { failure } = this.#ledger.status();
    this.#ledger.stop();
    const joiningEnded = this.#joining.close(END_LIMIT_MS);
    // Each write that a locked database refuses takes seconds, and the threads must end even then.
    const isWritable = await this.#queue.endFailures(failure === null);
    await this.#uses.end(isWritable && failure === null);
    if (this.#keys.released > 0) await this.#gatherLastEvidence();
    this.#noteLatch();
    this.#closing = true;
    const [keyWorker, ...others] = this.#workers;
    await Promise.all([
      joiningEnded,
      this.#statistics.end(END_LIMIT_MS),
      endThread(keyWorker),
      ...others.map((worker) => endThread(worker, END_LIMIT_MS)),
    ]);
    // Last, so that the log holds the keys of the last second.
    if (this.#logWorker) await endThread(this.#logWorker, END_LIMIT_MS);
    await Promise.all(this.#background.map((source) => source.close()));
  }

  /** Does once what follows from a latch. This thread may hear of it late, and the shutdown does not wait for that. */
  #noteLatch(): void {
    const defect = this.#latch?.read();
    if (!defect) return;
    this.#latch = null;
    this.#options.onLatch(defect, { keys: this.#keys.released, sinceMs: this.#startMs });
    this.#queue.resume();
  }

  async #gatherLastEvidence(): Promise<void> {
    try {
      if (this.#lateness.isLate) throw suiteLateError();
      const [unvouched] = await Promise.all([
        this.#pool.vouchForLast(),
        this.#submit({ kind: 'gather_evidence', isLast: true }),
      ]);
      if (unvouched !== null) this.#options.onUnvouchedEnd(unvouched);
    } catch (error) {
      this.#options.onUnvouchedEnd(reasonOf(error));
    }
  }

  /** Resolves once the key worker's thread has answered a ping. */
  ping(): Promise<void> {
    return whenAnswered(this.#workers[0]);
  }

  async #lookUpPrincipals(
    keyHashes: readonly Uint8Array[],
  ): Promise<readonly (Principal | undefined)[]> {
    const nowMs = this.#options.clock.nowMs();
    const result = await this.#submit({ kind: 'authenticate', keyHashes, nowMs });
    if (result.kind !== 'principals') throw unexpected(result);
    return result.principals;
  }

  async #submit(task: KeyTask): Promise<Exclude<SettledResult, { kind: 'failed' }>> {
    const result = await this.#queue.submit(task);
    if (result.kind === 'failed') throw toError(result.failure);
    return result;
  }

  /** Starts the suite workers after the first. Their data is copied before this returns. */
  #startFurther(data: SuiteWorkerData): void {
    for (let i = 1; i < this.#options.suiteWorkers; i++) {
      void this.#joining.add(waitingSuiteWorker(), data);
    }
  }

  #join({ worker, status, warnings }: ReadyWorker): void {
    for (const warning of warnings) this.#options.onEvidenceWarning(warning);
    this.#workers.push(worker);
    this.#watch(worker);
    this.#pool.add(worker, status);
  }

  #watch(worker: Worker): void {
    reportEnd(worker, this.#options.onFatal, () => this.#closing);
  }
}
