/** The main thread's side of the log worker: the newest notes, the status, and a limit on requests in progress. */

import type { Worker } from 'node:worker_threads';
import type { JsonObject } from '#tlog';
import { AppError } from '../../errors.ts';
import type { AuditAction } from '../../ledger/index.ts';
import type { KeyObserver, QueueLoad } from '../observer.ts';
import { damagedLedger, toError } from '../threads/failures.ts';
import type {
  LogApi,
  LogBytesAnswer,
  LogStatus,
  LogTextAnswer,
  LogUnavailable,
  ReceiptAnswer,
  ReceiptHolder,
} from './api.ts';
import { ROUND_MS } from './cosigning.ts';
import type { LogMessage, LogNotice, LogReply, LogResult, LogTask } from './notices.ts';
import type { Halt } from './stopped.ts';

/** Requests in progress. Most of them are receipts that wait for the next head. */
const MAX_TASKS = 2_048;

const RETRY_AFTER_SECONDS = 1;

/** Longest wait for an answer, beyond the longest wait for a receipt. */
const TASK_LIMIT_MS = 30_000;

const LATE: LogResult = {
  kind: 'failed',
  failure: {
    code: 'ledger_unavailable',
    retryAfterSeconds: 5,
    reason: `the log worker has not answered for ${TASK_LIMIT_MS / 1_000} s`,
  },
};

/** A witnessed head is served instead of a newer one without cosignatures while it is at most three rounds old. */
const FRESH_MS = 3 * ROUND_MS;

interface Note {
  readonly size: number;
  readonly text: string;
  readonly atMs: number;
}

export interface ServiceLogOptions {
  readonly origin: string;
  readonly policy: string;
  /** Names of the witnesses, whose failures are counted from zero. */
  readonly witnesses: readonly string[];
  /** Why no key may leave the server until the first published head; null if keys may. */
  readonly halt: Halt | null;
  readonly observer: KeyObserver | undefined;
  readonly onNotice: (notice: LogNotice) => void;
}

/**
 * Longest time until the worker hears of recorded keys. A message for each commit would wake the worker hundreds of
 * times a second (bench/receipts.ts). A request for a receipt does not wait for it.
 */
const NEWS_MS = 50;

export class ServiceLog implements LogApi {
  readonly #worker: Worker;
  readonly #options: ServiceLogOptions;
  readonly #inFlight = new Map<number, (result: LogResult) => void>();
  readonly #witnessFailures = new Map<string, number>();
  #nextId = 1;
  #stopped: string | null = null;
  #halt: Halt | null = null;
  #isDelayed = false;
  #published: Note | null = null;
  #witnessed: Note | null = null;
  /** The largest note that `checkpoint` has returned: readers must never see the log shrink. */
  #served: Note | null = null;
  #counts: Pick<LogStatus, 'pending' | 'oldestPendingMs' | 'setAside'> = {
    pending: null,
    oldestPendingMs: null,
    setAside: null,
  };
  #damage: AppError | null = null;
  /** Set while a message about recorded keys is due. */
  #news: NodeJS.Timeout | null = null;

  /** The worker must have reported ready. */
  constructor(worker: Worker, options: ServiceLogOptions) {
    this.#worker = worker;
    this.#options = options;
    this.#halt = options.halt;
    for (const witness of options.witnesses) this.#witnessFailures.set(witness, 0);
    worker.on('message', (reply: LogReply) => {
      if ('kind' in reply) this.#note(reply);
      else this.#settle(reply.id, reply.result);
    });
  }

  get load(): QueueLoad {
    return { name: 'log', waiting: this.#inFlight.size, capacity: MAX_TASKS };
  }

  async receipt(keyId: string, holder: ReceiptHolder, waitMs: number): Promise<ReceiptAnswer> {
    const answer = await this.#ask({ kind: 'receipt', keyId, holder, waitMs });
    return answer as ReceiptAnswer;
  }

  async tile(level: number, index: number, width: number): Promise<LogBytesAnswer> {
    return (await this.#ask({ kind: 'tile', level, index, width })) as LogBytesAnswer;
  }

  async entries(index: number, width: number): Promise<LogBytesAnswer> {
    return (await this.#ask({ kind: 'entries', index, width })) as LogBytesAnswer;
  }

  checkpoint(): LogTextAnswer {
    if (this.#stopped !== null) return { kind: 'stopped' };
    const note = this.#noteToServe();
    if (note === null) return { kind: 'starting' };
    this.#served = note;
    return { kind: 'text', text: note.text };
  }

  policy(): LogTextAnswer {
    return { kind: 'text', text: this.#options.policy };
  }

  /** Why no key may leave this server; null if keys may. Each request asks, so it builds no object. */
  get halt(): Halt | null {
    return this.#halt;
  }

  status(): LogStatus {
    return {
      state: this.#stopped !== null ? 'stopped' : this.#published ? 'running' : 'starting',
      reason: this.#stopped,
      halt: this.#halt,
      isDelayed: this.#stopped === null && this.#isDelayed,
      origin: this.#options.origin,
      size: this.#published?.size ?? 0,
      headMs: this.#published?.atMs ?? null,
      witnessedSize: this.#witnessed?.size ?? null,
      pending: this.#counts.pending,
      oldestPendingMs: this.#counts.oldestPendingMs,
      setAside: this.#counts.setAside,
      witnessFailures: this.#witnessFailures,
    };
  }

  /** Tells the worker soon that keys were recorded, so that the next turn comes in time. */
  recorded(): void {
    this.#news ??= setTimeout(() => {
      this.#news = null;
      this.#worker.postMessage('recorded' satisfies LogMessage);
    }, NEWS_MS).unref();
  }

  /** Records an administrative action, as far as the database answers. */
  audit(action: AuditAction, details: JsonObject): void {
    this.#worker.postMessage({ audit: action, details } satisfies LogMessage);
  }

  /** Ends turns and refuses all further requests, because the ledger is damaged. */
  condemn(damage: string): void {
    this.#damage = damagedLedger(damage);
    this.#worker.postMessage({ damage } satisfies LogMessage);
  }

  #noteToServe(): Note | null {
    const [newest, witnessed] = [this.#published, this.#witnessed];
    const isFresh = witnessed && Date.now() - witnessed.atMs < FRESH_MS;
    const chosen =
      witnessed && (isFresh || witnessed.size >= (newest?.size ?? 0)) ? witnessed : newest;
    return chosen && this.#served && chosen.size < this.#served.size ? this.#served : chosen;
  }

  #note(notice: LogNotice): void {
    switch (notice.kind) {
      case 'published':
        this.#published = { size: notice.size, text: notice.note, atMs: Date.now() };
        this.#halt = null;
        break;
      case 'witnessed':
        this.#witnessed = { size: notice.size, text: notice.note, atMs: notice.atMs };
        break;
      case 'counts':
        this.#counts = notice;
        break;
      case 'stopped':
        this.#stopped = notice.reason;
        this.#halt = notice.halt;
        break;
      case 'delayed':
        this.#isDelayed = notice.reason !== null;
        break;
      case 'resumed':
        this.#forget();
        break;
      case 'witness':
        if (notice.reason !== null) this.#countFailure(notice.witness);
        break;
      default:
    }
    this.#options.onNotice(notice);
  }

  #forget(): void {
    this.#stopped = null;
    this.#halt = null;
    this.#published = null;
    this.#witnessed = null;
    this.#served = null;
  }

  #countFailure(witness: string): void {
    this.#witnessFailures.set(witness, (this.#witnessFailures.get(witness) ?? 0) + 1);
  }

  async #ask(task: LogTask): Promise<LogUnavailable | ReceiptAnswer | LogBytesAnswer> {
    if (this.#damage) throw this.#damage;
    if (this.#stopped !== null) return { kind: 'stopped' };
    if (this.#inFlight.size >= MAX_TASKS) {
      this.#options.observer?.refused('log', false);
      throw new AppError('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    const result = await this.#post(task);
    if (result.kind === 'failed') throw toError(result.failure);
    return result.answer;
  }

  #post(task: LogTask): Promise<LogResult> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      // A task that is late keeps its place until the worker answers.
      const timer = setTimeout(() => resolve(LATE), TASK_LIMIT_MS).unref();
      this.#inFlight.set(id, (result) => {
        clearTimeout(timer);
        resolve(result);
      });
      this.#worker.postMessage({ id, task } satisfies LogMessage);
    });
  }

  #settle(id: number, result: LogResult): void {
    const resolve = this.#inFlight.get(id);
    this.#inFlight.delete(id);
    resolve?.(result);
  }
}
