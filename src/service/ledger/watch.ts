/**
 * Watches the ledger from the main thread, with and without traffic. It sees the result of each batch. Every two
 * seconds, or sooner after a failure, it asks the key worker whether
 * - keys can be recorded,
 * - other servers generate keys under a version of the master secret that this server lacks,
 * - versions are retired, and which,
 * - the operator has issued API keys.
 *
 * At most one such check is in progress, and no request waits for it. In between, the key worker reports the
 * retirements that its batches read, so that a retirement that was undone only during one batch is noticed.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { AppError } from '../../errors.ts';
import type {
  CommitTimes,
  KeyWorkerMessage,
  KeyWorkerReply,
  LedgerReport,
  RetiredVersion,
} from '../threads/messages.ts';
import { LedgerHealth, TICK_MS } from './health.ts';

const RETIRED_REMEDY =
  'No key was generated: the current version of the master secret on this server is retired. Try again in {wait}: ' +
  'another server may answer. On this one an operator must set another version.';

/** Seconds after which a client should retry: another server may answer, or this one after a restart with another version. */
const RETIRED_RETRY_SECONDS = 5;

/** Latest knowledge about the ledger. */
export interface LedgerStatus {
  /** Reason why the ledger is unusable; null while it works. */
  readonly failure: string | null;
  /** True if that reason is that the address leads to another ledger. */
  readonly isForeign: boolean;
  /** Versions of the master secret that other servers use and this server lacks. */
  readonly lackedVersions: readonly number[];
  /** Versions that an operator has retired. */
  readonly retired: readonly RetiredVersion[];
  /** As `LedgerStore.host`, at the last check. */
  readonly host: string | null;
}

/** Reports whether the current version is retired, so that no key may be generated. */
export function isCurrentRetired({ retired }: LedgerStatus): boolean {
  return retired.some(({ current }) => current);
}

/** Throws `AppError` while the current version is retired. */
export function requireCurrentSecret(status: LedgerStatus): void {
  if (!isCurrentRetired(status)) return;
  throw new AppError('ledger_unavailable', {
    remedy: RETIRED_REMEDY,
    reason: 'the current version of the master secret is retired',
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
  // The worker opened the store and compared the secret with it before it was ready.
  #status: LedgerStatus = {
    failure: null,
    isForeign: false,
    lackedVersions: [],
    retired: [],
    host: null,
  };

  /**
   * `batches` returns the numbers of the batches in the key worker, oldest first. `onChange` is called when the ledger
   * fails or works again, when a version is missing, and when a version is retired or reinstated. `onOwnApiKeys` is
   * called once, when the operator has issued an API key.
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

  /** Returns the latest knowledge. */
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
    const { failure } = this.#health;
    this.#note({ ...this.#status, failure, isForeign: failure !== null && this.#status.isForeign });
  }

  #settle(report: LedgerReport): void {
    const { failure, isForeign, accountLocked, lackedVersions, retired, ownApiKeys, host } = report;
    this.#health.checked(failure, accountLocked);
    if (ownApiKeys) {
      this.#onOwnApiKeys?.();
      this.#onOwnApiKeys = null;
    }
    this.#note({
      failure: this.#health.failure,
      isForeign: this.#health.failure !== null && isForeign,
      lackedVersions: lackedVersions ?? this.#status.lackedVersions,
      retired: retired ?? this.#status.retired,
      host,
    });
  }

  #note(status: LedgerStatus): void {
    const before = this.#status;
    this.#status = status;
    if (
      (before.failure === null) !== (status.failure === null) ||
      before.isForeign !== status.isForeign ||
      before.lackedVersions.join() !== status.lackedVersions.join() ||
      !isDeepStrictEqual(before.retired, status.retired)
    ) {
      this.#onChange(status, before);
    }
  }
}
