/** The suite workers and the bounded queue in front of them. Each worker has one job at a time. */
import type { Worker } from 'node:worker_threads';
import type { Gate } from '#sp800-22';
import { monotonicMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import { type GeneratorStatus, latchedError } from '../keys/generator.ts';
import type { Defect, FailedVerdict, Latch } from '../keys/latch.ts';
import type { SampleVerdict, SuiteJob, SuiteProbeReply, SuiteReply } from './messages.ts';
import type { KeyObserver, StageListener } from './observer.ts';
import { SUITE_LIMIT_MS, suiteLateError } from './suite-limit.ts';
import type { SuiteMessage } from './threads/suite-worker.ts';

/** Limit of waiting jobs for each worker: about two seconds of work. */
const MAX_WAITING_PER_WORKER = 256;

/** Share of the queue that one account may fill, so that it cannot shut out others. */
const MAX_ACCOUNT_SHARE = 1 / 2;

/** Seconds after which a client should retry when the queue is full. */
const RETRY_AFTER_SECONDS = 1;

interface Waiting {
  readonly job: SuiteJob;
  readonly accountId: string;
  readonly sinceMs: number;
  /** Returns true if the client has disconnected. A job that has not begun is then dropped. */
  readonly abandoned: () => boolean;
  readonly onStage: StageListener | undefined;
  readonly resolve: (reply: SuiteReply) => void;
  readonly reject: (error: AppError) => void;
  /** Timer that ends the wait. */
  readonly timer: NodeJS.Timeout;
}

/** A sample of the generator of plain keys. */
interface WaitingSample {
  readonly sample: Uint8Array<ArrayBuffer>;
  readonly resolve: (gate: Gate) => void;
}

interface Member {
  readonly worker: Worker;
  status: GeneratorStatus;
  current: { readonly waiting: Waiting; readonly sentMs: number } | WaitingSample | undefined;
}

export class SuitePool {
  readonly #latch: Latch;
  readonly #onFailedVerdict: (verdict: FailedVerdict) => void;
  readonly #observer: KeyObserver | undefined;
  readonly #members: Member[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #samples: WaitingSample[] = [];

  /** When the latch is set, refuses waiting and later jobs. */
  constructor(
    latch: Latch,
    onFailedVerdict: (verdict: FailedVerdict) => void,
    observer?: KeyObserver,
  ) {
    this.#latch = latch;
    this.#onFailedVerdict = onFailedVerdict;
    this.#observer = observer;
    void latch.whenSet().then((defect) => this.#refuseWaiting(defect));
  }

  /** Adds a worker that has reported ready. */
  add(worker: Worker, status: GeneratorStatus): void {
    const member: Member = { worker, status, current: undefined };
    worker.on('message', (reply: SuiteReply | SampleVerdict | SuiteProbeReply) => {
      if ('probed' in reply) member.status = reply.probed;
      else if ('gate' in reply) this.#settleSample(member, reply.gate);
      else this.#settle(member, reply);
    });
    this.#members.push(member);
    this.#dispatch();
  }

  /** Resolves when a worker has done the job. Rejects with `overloaded` or `entropy_unavailable`. */
  async submit(
    job: SuiteJob,
    accountId: string,
    abandoned: () => boolean,
    onStage?: StageListener,
  ): Promise<SuiteReply> {
    const defect = this.#latch.read();
    if (defect) throw latchedError(defect);
    const { capacity } = this.load;
    this.#dropAbandoned();
    const own = this.#waiting.filter((one) => one.accountId === accountId).length;
    if (this.#waiting.length >= capacity || own >= capacity * MAX_ACCOUNT_SHARE) {
      this.#observer?.refused('suite');
      throw new AppError('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    return new Promise((resolve, reject) => {
      const sinceMs = monotonicMs();
      const timer = setTimeout(() => this.#expire(timer), SUITE_LIMIT_MS).unref();
      this.#waiting.push({ job, accountId, sinceMs, abandoned, onStage, resolve, reject, timer });
      this.#dispatch();
    });
  }

  /** Transfers a sample to the next free worker, before all jobs. The worker judges and wipes it. */
  judge(sample: Uint8Array<ArrayBuffer>): Promise<Gate> {
    return new Promise((resolve) => {
      this.#samples.push({ sample, resolve });
      this.#dispatch();
    });
  }

  /** Waiting jobs and their limit. */
  get load(): { waiting: number; capacity: number } {
    const able = this.#latch.read() ? 0 : this.#members.length;
    return { waiting: this.#waiting.length, capacity: able * MAX_WAITING_PER_WORKER };
  }

  /** Makes idle workers draw from their sources again. They then send their status. */
  probe(): void {
    for (const { worker, current } of this.#members) {
      if (!current) worker.postMessage('probe' satisfies SuiteMessage);
    }
  }

  statuses(): GeneratorStatus[] {
    return this.#members.map(({ status }) => status);
  }

  #dispatch(): void {
    for (const member of this.#members) {
      if (member.current) continue;
      const waiting = this.#samples.shift();
      if (waiting) {
        member.current = waiting;
        const { sample } = waiting;
        member.worker.postMessage({ sample } satisfies SuiteMessage, [sample.buffer]);
        continue;
      }
      const next = this.#nextWanted();
      if (!next) return;
      clearTimeout(next.timer);
      const sentMs = monotonicMs();
      member.current = { waiting: next, sentMs };
      this.#observer?.waited('suite', sentMs - next.sinceMs);
      member.worker.postMessage(next.job satisfies SuiteMessage);
    }
  }

  #nextWanted(): Waiting | undefined {
    this.#dropAbandoned();
    return this.#waiting.shift();
  }

  /** Drops jobs of disconnected clients, which MUST NOT occupy places. */
  #dropAbandoned(): void {
    for (const one of this.#waiting.splice(0)) {
      if (one.abandoned()) {
        one.reject(new AppError('request_timeout', { detail: 'The client has disconnected.' }));
      } else {
        this.#waiting.push(one);
      }
    }
  }

  /** Rejects a job after ten seconds. At most two seconds of work precede it, so the workers hang or lack a core. */
  #expire(timer: NodeJS.Timeout): void {
    const place = this.#waiting.findIndex((one) => one.timer === timer);
    if (place === -1) return;
    const [{ reject }] = this.#waiting.splice(place, 1);
    reject(suiteLateError());
  }

  #refuseWaiting(defect: Defect): void {
    for (const { reject } of this.#waiting.splice(0)) reject(latchedError(defect));
  }

  #settle(member: Member, reply: SuiteReply): void {
    const { current } = member;
    if (!current || !('waiting' in current))
      throw new Error('a suite worker answered without a job');
    member.current = undefined;
    member.status = reply.status;
    this.#observer?.suiteJobDone(reply.ms, reply.counts);
    for (const verdict of reply.failedVerdicts) this.#onFailedVerdict(verdict);
    const { waiting, sentMs } = current;
    waiting.onStage?.('suite.wait', waiting.sinceMs, sentMs);
    waiting.onStage?.('suite.job', sentMs, monotonicMs());
    waiting.resolve(reply);
    this.#dispatch();
  }

  #settleSample(member: Member, gate: Gate): void {
    const { current } = member;
    if (!current || !('sample' in current))
      throw new Error('a suite worker judged without a sample');
    member.current = undefined;
    this.#observer?.plainEvidenceGathered(gate.verdict === 'PASS');
    current.resolve(gate);
    this.#dispatch();
  }
}
