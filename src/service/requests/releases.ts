/**
 * Decides whether keys whose rows are durable may leave this server. If a defect was found after their commit, takes back
 * what the ledger keeps of them.
 */
import type { AppError } from '../../errors.ts';
import { alteredKey } from '../../keys/altered-key.ts';
import { entropyUnavailable, latchedError } from '../../keys/generator.ts';
import { parseKeyId } from '../../keys/key-id.ts';
import { wipeKey } from '../../keys/key-receipt.ts';
import type { Defect, Latch } from '../../keys/latch.ts';
import type {
  GeneratedOutcome,
  KeyRequest,
  SealedOutcome,
  Withholdable,
} from '../../keys/order.ts';
import { requireNoHalt } from '../log/halted.ts';
import type { Halt } from '../log/stopped.ts';
import type { Requester } from '../threads/messages.ts';
import type { KeyQueue } from './queue.ts';
import { Withdrawals } from './withdrawals.ts';

/** Parts of the service that tell of defects, and that withdraw. */
interface Parts {
  readonly latch: Latch;
  /** Why the log lets no key leave; null if keys may. */
  readonly halt: () => Halt | null;
  readonly queue: Pick<KeyQueue, 'submit'>;
}

/** A request whose keys are recorded, or were by an earlier one. */
interface Recorded {
  readonly requester: Requester;
  readonly request: KeyRequest;
}

export const FAILED_MEANWHILE = 'a sample of the generator of plain keys failed after these keys';

export class Releases {
  readonly #parts: Parts;
  readonly #withdrawals: Withdrawals;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#withdrawals = new Withdrawals(parts.queue);
  }

  /**
   * Returns undefined if the keys may leave now. If a defect was found since they were made (the process has latched, a sample
   * of their generator failed, or the log halts), wipes them and returns a promise that rejects with the error of the request,
   * once no retry gets them either. MUST be called after each wait before the answer, and awaited only if it returns a promise.
   */
  refuseUnsound(
    outcome: (GeneratedOutcome | SealedOutcome) & Withholdable,
  ): Promise<never> | undefined {
    const defect = this.#parts.latch.read();
    const halt = this.#parts.halt();
    if (!defect && halt === null && outcome.mayRelease()) return undefined;
    if (outcome.kind === 'generated') for (const key of outcome.keys) wipeKey(key);
    return this.#withhold(outcome, defect, halt);
  }

  async #withhold(
    { withdraw }: Withholdable,
    defect: Defect | null,
    halt: Halt | null,
  ): Promise<never> {
    await withdraw?.();
    if (defect) throw latchedError(defect);
    requireNoHalt(halt);
    throw entropyUnavailable(FAILED_MEANWHILE);
  }

  /** Removes the answer that is kept of a request, with the keys of these rows, and their copies in boxes. */
  async withdraw({ requester, request }: Recorded, keyIds: readonly string[]): Promise<void> {
    const { idempotency, delivery } = request;
    if (!idempotency && !delivery) return;
    const { accountId } = requester;
    const ids = keyIds.map(parseKeyId).filter((id) => id !== undefined);
    const name = idempotency ? retryName({ requester, request }) : null;
    await this.#withdrawals.withdraw(name, {
      kind: 'withdraw',
      answer: idempotency && { accountId, key: idempotency.key, keyIds: ids },
      deliveries: delivery && { accountId, deliveryIds: delivery.ids },
    });
  }

  /** Throws if the keys of a request were withheld, and its answer is not removed yet. */
  requireNotWithheld(call: Recorded): void {
    if (this.#withdrawals.has(retryName(call))) throw entropyUnavailable(FAILED_MEANWHILE);
  }

  /** Latches the process, because the text of an answer is not of its keys. Returns the error of the request. */
  refuseAnswer(): AppError {
    const defect = alteredKey('answer');
    this.#parts.latch.set(defect);
    return latchedError(this.#parts.latch.read() ?? defect);
  }
}

/** Names a request as its retries do. */
function retryName({ requester, request }: Recorded): string {
  return `${requester.accountId} ${request.idempotency?.key}`;
}
