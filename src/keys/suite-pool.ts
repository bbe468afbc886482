/** The suite workers and the bounded queue in front of them. One job a worker at a time. */
import type { Worker } from 'node:worker_threads';
import { wipe } from '../bytes.ts';
import { monotonicMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import { entropyUnavailable, type GeneratorStatus } from './generator.ts';
import { type SuiteJob, type SuiteProbeReply, type SuiteReply, toFailure } from './messages.ts';
import type { KeyObserver, StageListener } from './observer.ts';
import type { SuiteMessage } from './suite-worker.ts';

/** Jobs that may wait for each worker: about two seconds of work. */
const MAX_WAITING_PER_WORKER = 256;

/** Share of the queue that one account may hold, so that none can shut the others out. */
const MAX_ACCOUNT_SHARE = 1 / 2;

/** Seconds a client should wait when the queue is full. */
const RETRY_AFTER_SECONDS = 1;

const NO_GENERATOR = 'every suite worker has ended its generator';

/** A finished job. `latchSource` ends the generator that made the key, should it prove broken. */
export interface SuiteOutcome {
  readonly reply: SuiteReply;
  readonly latchSource: (reason: string) => void;
}

interface Waiting {
  readonly job: SuiteJob;
  readonly accountId: string;
  readonly sinceMs: number;
  /** True when nobody waits for the key any more: a job not yet begun is then dropped. */
  readonly abandoned: () => boolean;
  readonly onStage: StageListener | undefined;
  readonly resolve: (outcome: SuiteOutcome) => void;
  readonly reject: (error: AppError) => void;
}

interface Member {
  readonly worker: Worker;
  status: GeneratorStatus;
  current: { readonly waiting: Waiting; readonly sentMs: number } | undefined;
}

export class SuitePool {
  readonly #onLatch: (reason: string) => void;
  readonly #observer: KeyObserver | undefined;
  readonly #members: Member[] = [];
  readonly #waiting: Waiting[] = [];

  /** `onLatch` is told the reason when a worker's generator ends. */
  constructor(onLatch: (reason: string) => void, observer?: KeyObserver) {
    this.#onLatch = onLatch;
    this.#observer = observer;
  }

  /** Adds a worker that has reported ready. */
  add(worker: Worker, status: GeneratorStatus): void {
    const member: Member = { worker, status, current: undefined };
    worker.on('message', (reply: SuiteReply | SuiteProbeReply) => {
      if ('probed' in reply) this.#noteStatus(member, reply.probed);
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
  ): Promise<SuiteOutcome> {
    const { capacity } = this.load;
    if (capacity === 0) throw entropyUnavailable(NO_GENERATOR);
    this.#dropAbandoned();
    const own = this.#waiting.filter((one) => one.accountId === accountId).length;
    if (this.#waiting.length >= capacity || own >= capacity * MAX_ACCOUNT_SHARE) {
      this.#observer?.refused('suite');
      throw new AppError('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    return new Promise((resolve, reject) => {
      const sinceMs = monotonicMs();
      this.#waiting.push({ job, accountId, sinceMs, abandoned, onStage, resolve, reject });
      this.#dispatch();
    });
  }

  /** Jobs that wait, and how many may. */
  get load(): { waiting: number; capacity: number } {
    const able = this.#members.filter(isAble).length;
    return { waiting: this.#waiting.length, capacity: able * MAX_WAITING_PER_WORKER };
  }

  /** Has idle workers draw from their sources again; their status follows. */
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
      if (member.current || !isAble(member)) continue;
      const next = this.#nextWanted();
      if (!next) return;
      const sentMs = monotonicMs();
      member.current = { waiting: next, sentMs };
      this.#observer?.waited('suite', sentMs - next.sinceMs);
      member.worker.postMessage(next.job satisfies SuiteMessage);
    }
    if (!this.#members.some(isAble)) this.#refuseWaiting();
  }

  #nextWanted(): Waiting | undefined {
    this.#dropAbandoned();
    return this.#waiting.shift();
  }

  /** Nobody waits for these any more; they MUST NOT keep places from those who do. */
  #dropAbandoned(): void {
    for (const one of this.#waiting.splice(0)) {
      if (one.abandoned()) {
        one.reject(new AppError('request_timeout', { detail: 'The client has gone.' }));
      } else {
        this.#waiting.push(one);
      }
    }
  }

  #refuseWaiting(): void {
    for (const { reject } of this.#waiting.splice(0)) {
      reject(entropyUnavailable(NO_GENERATOR));
    }
  }

  #settle(member: Member, reply: SuiteReply): void {
    const { current } = member;
    if (!current) throw new Error('a suite worker answered without a job');
    member.current = undefined;
    this.#noteStatus(member, reply.status);
    this.#observer?.suiteJobDone(reply.ms, reply.counts);
    const { waiting, sentMs } = current;
    waiting.onStage?.('suite.wait', waiting.sinceMs, sentMs);
    waiting.onStage?.('suite.job', sentMs, monotonicMs());
    waiting.resolve({
      reply: refuseIfLatched(reply, member.status.latched),
      latchSource: (reason) => this.#latch(member, reason),
    });
    this.#dispatch();
  }

  /** What a worker says before it has heard of its latch takes nothing back. */
  #noteStatus(member: Member, status: GeneratorStatus): void {
    const before = member.status.latched;
    const latched = before ?? status.latched;
    if (latched !== null && before === null) this.#onLatch(latched);
    member.status = { ...status, latched };
  }

  #latch(member: Member, reason: string): void {
    this.#noteStatus(member, { ...member.status, latched: reason });
    member.worker.postMessage({ latch: reason } satisfies SuiteMessage);
  }
}

/** A key before may have shown the generator broken while this one was made. */
function refuseIfLatched(reply: SuiteReply, latched: string | null): SuiteReply {
  if (latched === null || reply.result.kind === 'failed') return reply;
  wipe(reply.result.generated.key);
  return { ...reply, result: { kind: 'failed', failure: toFailure(entropyUnavailable(latched)) } };
}

function isAble({ status }: Member): boolean {
  return status.latched === null;
}
