/**
 * Watches the ledger from the main thread, with and without traffic: every two seconds the key worker
 * is asked whether it can read and commit, whether keys are made under a version of the master secret that
 * this server lacks, and whether the operator has issued API keys. At most one question is under way, and no
 * request waits for its answer.
 */
import type { Worker } from 'node:worker_threads';
import type { KeyBatchReply, KeyWorkerMessage, LedgerReport } from './messages.ts';

const CHECK_EVERY_MS = 2_000;

/** An answer that takes longer than so many intervals says as much as a failure. */
const LATE_AFTER = 3;

/** What is known of the ledger. */
export interface LedgerStatus {
  /** Why it cannot be used; null while it can. */
  readonly failure: string | null;
  /** Versions of the master secret that make keys somewhere and are missing here. */
  readonly lackedVersions: readonly number[];
}

export class LedgerWatch {
  readonly #worker: Worker;
  readonly #onChange: (status: LedgerStatus) => void;
  #onOwnApiKeys: (() => void) | null;
  readonly #timer: NodeJS.Timeout;
  /** Intervals since the question that is under way; null when none is. */
  #waiting: number | null = null;
  // The store was opened and the secret held against it before the worker was ready.
  #status: LedgerStatus = { failure: null, lackedVersions: [] };

  /**
   * `onChange` is told when the ledger fails or works again, and when a version is found lacking;
   * `onOwnApiKeys` once, when there are API keys that the operator has issued.
   */
  constructor(
    worker: Worker,
    onChange: (status: LedgerStatus) => void,
    onOwnApiKeys: () => void = () => {},
  ) {
    this.#worker = worker;
    this.#onChange = onChange;
    this.#onOwnApiKeys = onOwnApiKeys;
    worker.on('message', (message: KeyBatchReply | LedgerReport) => {
      if ('lackedVersions' in message) this.#settle(message);
    });
    this.#timer = setInterval(() => this.#check(), CHECK_EVERY_MS);
  }

  /** The latest knowledge. */
  status(): LedgerStatus {
    return this.#status;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    if (this.#waiting === null) {
      this.#waiting = 0;
      this.#worker.postMessage('check' satisfies KeyWorkerMessage);
    } else if (++this.#waiting === LATE_AFTER) {
      this.#note({ ...this.#status, failure: 'the ledger does not answer' });
    }
  }

  #settle({ failure, lackedVersions, ownApiKeys }: LedgerReport): void {
    this.#waiting = null;
    if (ownApiKeys) {
      this.#onOwnApiKeys?.();
      this.#onOwnApiKeys = null;
    }
    this.#note({ failure, lackedVersions: lackedVersions ?? this.#status.lackedVersions });
  }

  #note(status: LedgerStatus): void {
    const before = this.#status;
    this.#status = status;
    if (
      (before.failure === null) !== (status.failure === null) ||
      before.lackedVersions.join() !== status.lackedVersions.join()
    ) {
      this.#onChange(status);
    }
  }
}
