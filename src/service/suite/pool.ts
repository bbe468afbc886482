/**
 * The suite workers and the bounded queue in front of them. Each worker has one message at a time: a sample, one key, some
 * keys of a batch, or sealed keys of several requests. Samples come first; `turns.ts` says what follows.
 */
import type { Worker } from 'node:worker_threads';
import { monotonicMs } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { SampleVerdict } from '../../keys/evidence-suite.ts';
import { type GeneratorStatus, latchedError } from '../../keys/generator.ts';
import type { Defect, EvidenceWarning, Latch } from '../../keys/latch.ts';
import type { BatchTooLarge } from '../../keys/order.ts';
import type { KeyObserver, StageListener } from '../observer.ts';
import { overloaded } from '../requests/own-share.ts';
import type { UnvouchedKeys } from '../threads/messages.ts';
import {
  BATCH_LIMIT_MS,
  batchLateError,
  SUITE_LIMIT_MS,
  SuiteLateness,
  suiteLateError,
} from './limit.ts';
import type {
  OwnVerdicts,
  SuiteJob,
  SuiteMessage,
  SuiteReplies,
  SuiteReply,
  SuiteWorkerMessage,
} from './messages.ts';
import { SuitePace } from './pace.ts';
import { SuiteTurns } from './turns.ts';
import { type KeyWork, type Maker, SuiteWork } from './work.ts';

/** Seconds after which a client should retry when the queue is full. */
const RETRY_AFTER_SECONDS = 1;

/** A sample of the generator of plain keys. */
interface WaitingSample {
  readonly sample: Uint8Array<ArrayBuffer>;
  readonly resolve: (verdict: SampleVerdict) => void;
}

/** A job in a worker. */
interface Running {
  readonly work: SuiteWork;
  readonly job: SuiteJob;
}

/** The jobs of a message in a worker. */
interface RunningJobs {
  readonly jobs: readonly Running[];
}

interface Member extends Maker {
  status: GeneratorStatus;
  current: RunningJobs | WaitingSample | undefined;
  /** Runs while the worker has a job or a sample. */
  timer: NodeJS.Timeout | undefined;
}

interface SuitePoolEvents {
  readonly onEvidenceWarning: (warning: EvidenceWarning) => void;
  /** Called after a latch for each worker with released plain keys that have no later good sample. */
  readonly onUnvouchedKeys: (keyIds: readonly string[], lastGoodMs: number | null) => void;
  readonly observer?: KeyObserver | undefined;
}

export class SuitePool {
  readonly #latch: Latch;
  readonly #events: SuitePoolEvents;
  readonly #lateness: SuiteLateness;
  readonly #observer: KeyObserver | undefined;
  readonly #pace = new SuitePace();
  readonly #members: Member[] = [];
  readonly #turns = new SuiteTurns(this.#pace);
  readonly #samples: WaitingSample[] = [];
  readonly #timers = new Map<SuiteWork, NodeJS.Timeout>();
  #nextJobId = 1;

  /** When the latch is set, refuses waiting and later work. Notes workers that do not answer in `lateness`. */
  constructor(
    latch: Latch,
    events: SuitePoolEvents,
    lateness: SuiteLateness = new SuiteLateness(() => {}),
  ) {
    this.#latch = latch;
    this.#events = events;
    this.#lateness = lateness;
    this.#observer = events.observer;
    void latch.whenSet().then((defect) => this.#refuseWaiting(defect));
  }

  /** Adds a worker that has reported ready. */
  add(worker: Worker, status: GeneratorStatus): void {
    const member: Member = {
      worker,
      status,
      current: undefined,
      timer: undefined,
      evidence: { goodAt: null, isFailed: false, failures: 0 },
    };
    worker.on('message', (message: SuiteWorkerMessage) => this.#hear(member, message));
    this.#members.push(member);
    this.#dispatch();
  }

  /**
   * Has keys made. Throws `overloaded` or `entropy_unavailable` if the work is refused. The caller MUST end the work by
   * `recorded` or `drop`.
   */
  submit(request: KeyWork, abandoned: () => boolean, onStage?: StageListener): SuiteWork {
    const defect = this.#latch.read();
    if (defect) throw latchedError(defect);
    if (!this.#admits(request)) {
      const ownShare = this.#turns.room.isOwnShare(request, this.#able);
      this.#observer?.refused(request.isBatch ? 'batches' : 'suite', ownShare);
      throw overloaded(ownShare, RETRY_AFTER_SECONDS);
    }
    const work = new SuiteWork(request, abandoned, onStage);
    const limitMs = request.isBatch ? BATCH_LIMIT_MS : SUITE_LIMIT_MS;
    const timer = setTimeout(() => this.#expire(work), limitMs).unref();
    this.#timers.set(work, timer);
    this.#turns.add(work);
    this.#dispatch();
    return work;
  }

  /**
   * Returns the refusal of a validated batch that cannot be done in time, or undefined. Throws `overloaded` if no key
   * could.
   */
  tooLarge(request: KeyWork): BatchTooLarge | undefined {
    if (!request.order.withEvidence || !request.isBatch || this.#latch.read()) return undefined;
    this.#dropAbandoned(this.#turns.waiting);
    const maxCount = this.#turns.room.maxCount(request, this.#able);
    if (request.count <= maxCount || maxCount < 1) return undefined;
    return { kind: 'batch_too_large', maxCount, reason: 'validation' };
  }

  /** Transfers a sample to the next free worker, before all jobs. The worker judges and wipes it. */
  judge(sample: Uint8Array<ArrayBuffer>): Promise<SampleVerdict> {
    return new Promise((resolve) => {
      this.#samples.push({ sample, resolve });
      this.#dispatch();
    });
  }

  /** Places of waiting single keys, and their number. */
  get load(): { waiting: number; capacity: number } {
    return this.#turns.room.load(this.#able);
  }

  /** Waiting work of batches and its limit, in jobs. */
  get batchLoad(): { waiting: number; capacity: number } {
    return this.#turns.room.batchLoad(this.#able);
  }

  /** Makes idle workers draw from their sources again. They then send their status. */
  probe(): void {
    for (const member of this.#members) if (!member.current) post(member, 'probe');
  }

  /**
   * Has each worker judge a last sample for its released plain keys. Resolves with the reason why one of them has none, or
   * null. Rejects with `entropy_unavailable` if a worker does not answer. No work may be submitted afterwards.
   */
  async vouchForLast(): Promise<string | null> {
    const answers = this.#members.map(
      (member) =>
        new Promise<string | null>((resolve, reject) => {
          setTimeout(() => reject(suiteLateError()), SUITE_LIMIT_MS).unref();
          member.worker.on('message', (message: SuiteWorkerMessage) => {
            if ('unvouched' in message) resolve(message.unvouched);
          });
          post(member, 'vouch');
        }),
    );
    return (await Promise.all(answers)).find((reason) => reason !== null) ?? null;
  }

  statuses(): GeneratorStatus[] {
    return this.#members.map(({ status }) => status);
  }

  #hear(member: Member, message: SuiteWorkerMessage): void {
    if ('probed' in message) member.status = message.probed;
    else if ('verdicts' in message) this.#noteVerdicts(member, message.verdicts);
    else if ('gate' in message) this.#settleSample(member, message);
    else if ('failedVerdict' in message || 'accumulated' in message) {
      this.#events.onEvidenceWarning(message);
    } else if ('unvouchedKeys' in message) this.#noteUnvouched(message);
    else if ('replies' in message) this.#settle(member, message);
  }

  #noteUnvouched({ unvouchedKeys, lastGoodMs }: UnvouchedKeys): void {
    if (unvouchedKeys.length > 0) this.#events.onUnvouchedKeys(unvouchedKeys, lastGoodMs);
  }

  get #able(): number {
    return this.#latch.read() ? 0 : this.#members.length;
  }

  /** Looks for abandoned work only if there is no room, because the queue may be long. */
  #admits(request: KeyWork): boolean {
    if (this.#turns.room.has(request, this.#able)) return true;
    this.#dropAbandoned(this.#turns.waiting);
    return this.#turns.room.has(request, this.#able);
  }

  #dispatch(): void {
    for (const member of this.#members) {
      if (member.current) continue;
      const waiting = this.#samples.shift();
      if (waiting) {
        this.#begin(member, waiting);
        const { sample } = waiting;
        member.worker.postMessage({ sample } satisfies SuiteMessage, [sample.buffer]);
        continue;
      }
      const works = this.#nextWorks();
      if (works.length === 0) return;
      this.#send(member, works);
    }
  }

  #send(member: Member, works: readonly SuiteWork[]): void {
    const jobs = works.map((work) => ({ work, job: this.#takeJob(work) }));
    this.#begin(member, { jobs });
    post(member, { jobs: jobs.map(({ job }) => job) });
  }

  #takeJob(work: SuiteWork): SuiteJob {
    const { request } = work;
    const isFirst = work.unsentKeys === request.count;
    if (isFirst) this.#observer?.waited('suite', monotonicMs() - work.sinceMs);
    const job = work.takeJob(this.#nextJobId++, this.#turns.keysOfJob(request));
    if (work.unsentKeys > 0) return job;
    this.#turns.remove(work);
    // A single key has waited for its worker; from now on the job is timed. A batch has its time as a whole.
    if (!request.isBatch) this.#stopTimer(work);
    return job;
  }

  #begin(member: Member, current: RunningJobs | WaitingSample): void {
    member.current = current;
    member.timer = setTimeout(() => this.#noteHung(member), SUITE_LIMIT_MS).unref();
  }

  /** Notes the answer of a worker. */
  #ended(member: Member): void {
    clearTimeout(member.timer);
    member.current = undefined;
    this.#lateness.note(member, false);
  }

  /** Refuses the requests of jobs that take far too long, so that they and their `Idempotency-Key`s do not hang with them. */
  #noteHung(member: Member): void {
    const { current } = member;
    this.#lateness.note(member, true);
    if (!current || !('jobs' in current)) return;
    for (const { work } of current.jobs) {
      if (!work.request.isBatch) this.#end(work, suiteLateError());
    }
  }

  #nextWorks(): SuiteWork[] {
    this.#dropAbandoned(this.#turns.abandoned());
    return this.#turns.next(this.#members.length);
  }

  /** Drops work of disconnected clients, which MUST NOT keep others out. */
  #dropAbandoned(works: Iterable<SuiteWork>): void {
    for (const work of works) {
      if (!work.abandoned()) continue;
      this.#end(work, new AppError('request_timeout', { detail: 'The client has disconnected.' }));
    }
  }

  /**
   * Refuses a single key that has waited ten seconds, and a batch that is not done after twenty. Less work precedes them, so
   * the workers hang or lack a core.
   */
  #expire(work: SuiteWork): void {
    this.#end(work, work.request.isBatch ? batchLateError() : suiteLateError());
  }

  #refuseWaiting(defect: Defect): void {
    for (const work of this.#turns.waiting) this.#end(work, latchedError(defect));
    // Asked and answered in order: the workers have heard of all released keys by then.
    for (const member of this.#members) post(member, 'unvouched');
  }

  #end(work: SuiteWork, error: AppError): void {
    this.#turns.remove(work);
    this.#stopTimer(work);
    work.fail(error);
  }

  #stopTimer(work: SuiteWork): void {
    clearTimeout(this.#timers.get(work));
    this.#timers.delete(work);
  }

  #settle(member: Member, { replies }: SuiteReplies): void {
    const { current } = member;
    if (!current || !('jobs' in current)) throw new Error('a suite worker answered without a job');
    const ids = current.jobs.map(({ job }) => job.id);
    const answered = replies.map(({ jobId }) => jobId);
    if (`${answered}` !== `${ids}`) {
      throw new Error(`a suite worker answered the jobs ${answered} in place of ${ids}`);
    }
    this.#ended(member);
    for (const [i, running] of current.jobs.entries()) {
      this.#settleJob(member, running, replies[i] as SuiteReply);
    }
    this.#dispatch();
  }

  #settleJob(member: Member, { work, job }: Running, reply: SuiteReply): void {
    member.status = reply.status;
    this.#noteVerdicts(member, reply);
    this.#observer?.suiteJobDone(reply.ms, reply.counts);
    if (reply.result.kind === 'made') this.#pace.note(work.request, job.count, reply.ms);
    work.add(job.id, member, reply);
    if (!work.isOver) return;
    this.#turns.remove(work);
    this.#stopTimer(work);
  }

  #noteVerdicts(member: Member, { samples, evidence }: OwnVerdicts): void {
    member.evidence = evidence;
    for (const passed of samples) this.#observer?.plainEvidenceGathered(passed);
  }

  #settleSample(member: Member, verdict: SampleVerdict): void {
    const { current } = member;
    if (!current || !('sample' in current))
      throw new Error('a suite worker judged without a sample');
    this.#ended(member);
    this.#observer?.plainEvidenceGathered(verdict.gate.verdict === 'PASS');
    current.resolve(verdict);
    this.#dispatch();
  }
}

function post({ worker }: Member, message: SuiteMessage): void {
  worker.postMessage(message);
}
