/** Requests with an `Idempotency-Key`: those in progress in this process, and answers to earlier ones. */
import { AppError } from '../../errors.ts';
import { formatKeyId } from '../../keys/key-id.ts';
import type { Idempotency, KeyAlreadyMade, SealedOutcome, Withholdable } from '../../keys/order.ts';
import type { StoredAnswer, Usage } from '../../ledger/index.ts';

/** The `Idempotency-Key`s of requests in progress. Other processes may have the same: the commit decides then. */
export class InProgress {
  readonly #keys = new Set<string>();

  /** Runs `work` unless a request with the same key is in progress. Rejects with `idempotency_in_progress` then. */
  run<T>(accountId: string, idempotency: Idempotency | null, work: () => Promise<T>): Promise<T> {
    return idempotency ? this.#alone(`${accountId} ${idempotency.key}`, work) : work();
  }

  async #alone<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#keys.has(key)) throw new AppError('idempotency_in_progress');
    this.#keys.add(key);
    try {
      return await work();
    } finally {
      this.#keys.delete(key);
    }
  }
}

/**
 * Returns the outcome of a retry. Throws `idempotency_key_reused` if the earlier request was another one. The hashes are
 * no secrets, so their comparison need not take constant time.
 */
export function replay(
  answer: StoredAnswer,
  { requestHash }: Idempotency,
  usage: Usage,
): (SealedOutcome & Withholdable) | KeyAlreadyMade {
  if (Buffer.compare(answer.requestHash, requestHash) !== 0) {
    throw new AppError('idempotency_key_reused');
  }
  const { createdMs, body } = answer;
  const keyIds = answer.keyIds.map(formatKeyId);
  if (body === null) return { kind: 'key_already_made', keyIds, createdMs, usage };
  // Another server may have made these keys: the first request decided on them.
  const mayRelease = () => true;
  return { kind: 'sealed', createdMs, keyIds, body, usage, replayed: true, mayRelease };
}
