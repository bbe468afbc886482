/**
 * Watches the ledger from the main thread, with and without traffic. It sees what became of each batch, and every two
 * seconds, or sooner after a failure, asks the key worker whether it can record a key, whether keys are made under a
 * version of the master secret that this server lacks, which versions are retired, and whether the operator has issued
 * API keys. At most one question is under way, and no request waits for its answer. Between the questions the key
 * worker tells what its batches read of retirements, so that one undone for the time of one batch is noticed.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { AppError } from '../errors.ts';
import { LedgerHealth, TICK_MS } from './ledger-health.ts';
import type {
  CommitTimes,
  KeyWorkerMessage,
  KeyWorkerReply,
  LedgerReport,
  RetiredVersion,
} from './messages.ts';

const RETIRED_REMEDY =
  'No key was made: the version of the master secret that this server makes keys under is retired. Try again in ' +
  '{wait}, when another server may answer. On this one an operator must set another version.';

/** Seconds a client should wait, for another server or for this one with another version. */
const RETIRED_RETRY_SECONDS = 5;

/** What is known of the ledger. */
export interface LedgerStatus {
  /** Why it cannot be used; null while it can. */
  readonly failure: string | null;
  /** Versions of the master secret that make keys somewhere and are missing here. */
  readonly lackedVersions: readonly number[];
  /** Versions that an operator has retired. */
  readonly retired: readonly RetiredVersion[];
}

/** Whether keys would be made under a retired version: then none may be made. */
export function isCurrentRetired({ retired }: LedgerStatus): boolean {
  return retired.some(({ current }) => current);
}

/** Throws `AppError` while keys would be made under a retired version. */
export function requireCurrentSecret(status: LedgerStatus): void {
  if (!isCurrentRetired(status)) return;
  throw new AppError('ledger_unavailable', {
    remedy: RETIRED_REMEDY,
    reason: 'the version of the master secret that keys are made under is retired',
    retryAfterSeconds: RETIRED_RETRY_SECONDS,
  });
}

export class LedgerWatch {
  readonly #worker: Worker;
  readonly #onChange: (status: LedgerStatus, before: LedgerStatus) => void;
  #onOwnApiKeys: (() => void) | null;
  readonly #timer: NodeJS.Timeout;
  readonly #health = new LedgerHealth();
  readonly #batches: () => readonly number[];
  // The store was opened and the secret held against it before the worker was ready.
  #status: LedgerStatus = { failure: null, lackedVersions: [], retired: [] };

  /**
   * `batches` gives the numbers of the batches that the key worker has, oldest first. `onChange` is told when the ledger
   * fails or works again, when a version is found lacking, and when a version is retired or reinstated; `onOwnApiKeys` once, when there are API keys that the operator has issued.
   */
  constructor(
    worker: Worker,
    batches: () => readonly number[],
    onChange: (status: LedgerStatus, before: LedgerStatus) => void,
    onOwnApiKeys: () => void = () => {},
  ) {
    this.#worker = worker;
    this.#batches = batches;
    this.#onChange = onChange;
    this.#onOwnApiKeys = onOwnApiKeys;
    worker.on('message', (message: KeyWorkerReply) => {
      if ('id' in message) this.#noteCommit(message.commit);
      else if ('lackedVersions' in message) this.#settle(message);
      else if ('retiredVersions' in message) {
        this.#note({ ...this.#status, retired: message.retiredVersions });
      }
    });
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** The latest knowledge. */
  status(): LedgerStatus {
    return this.#status;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const isDue = this.#health.tick(this.#batches());
    this.#noteFailure();
    if (isDue) this.#worker.postMessage('check' satisfies KeyWorkerMessage);
  }

  #noteCommit(commit: CommitTimes | null): void {
    if (!commit) return;
    this.#health.committed(commit);
    this.#noteFailure();
  }

  #noteFailure(): void {
    this.#note({ ...this.#status, failure: this.#health.failure });
  }

  #settle({ failure, accountLocked, lackedVersions, retired, ownApiKeys }: LedgerReport): void {
    this.#health.checked(failure, accountLocked);
    if (ownApiKeys) {
      this.#onOwnApiKeys?.();
      this.#onOwnApiKeys = null;
    }
    this.#note({
      failure: this.#health.failure,
      lackedVersions: lackedVersions ?? this.#status.lackedVersions,
      retired: retired ?? this.#status.retired,
    });
  }

  #note(status: LedgerStatus): void {
    const before = this.#status;
    this.#status = status;
    if (
      (before.failure === null) !== (status.failure === null) ||
      before.lackedVersions.join() !== status.lackedVersions.join() ||
      !isDeepStrictEqual(before.retired, status.retired)
    ) {
      this.#onChange(status, before);
    }
  }
}
