/**
 * Takes back what the ledger keeps of keys that must not be released: the answer of a sealed request, and the copies in
 * boxes. If the ledger cannot be used, it is asked again until it has done it, because recipients fetch copies without asking
 * this server.
 */
import { toError, unexpected } from '../threads/failures.ts';
import type { KeyTask } from '../threads/messages.ts';
import type { KeyQueue } from './queue.ts';

type Withdrawal = KeyTask & { readonly kind: 'withdraw' };

/** Between attempts: twice as long each time. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

export class Withdrawals {
  readonly #queue: Pick<KeyQueue, 'submit'>;
  /** Names of requests whose answers are still kept. */
  readonly #withheld = new Set<string>();

  constructor(queue: Pick<KeyQueue, 'submit'>) {
    this.#queue = queue;
  }

  /** Reports whether the kept answer of a request must not be given. */
  has(name: string): boolean {
    return this.#withheld.has(name);
  }

  /**
   * Resolves once the ledger has done it. If it rejects, attempts go on as long as the process runs. `name` is that of a request with an
   * `Idempotency-Key`; null for others, whose answer is not kept.
   */
  async withdraw(name: string | null, task: Withdrawal): Promise<void> {
    if (name !== null) this.#withheld.add(name);
    try {
      await this.#try(name, task);
    } catch (error) {
      void this.#repeat(name, task);
      throw error;
    }
  }

  async #try(name: string | null, task: Withdrawal): Promise<void> {
    const result = await this.#queue.submit(task);
    if (result.kind === 'failed') throw toError(result.failure);
    if (result.kind !== 'withdrawn') throw unexpected(result);
    if (name !== null) this.#withheld.delete(name);
  }

  async #repeat(name: string | null, task: Withdrawal): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    for (let isDone = false; !isDone; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
      // A server that ends does not wait for it.
      await new Promise<void>((resolve) => setTimeout(resolve, pauseMs).unref());
      isDone = await this.#try(name, task).then(
        () => true,
        () => false,
      );
    }
  }
}
