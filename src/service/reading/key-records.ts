/** Key records as the HTTP layer sees them: list, read, revoke. Nothing here counts against a quota. */

import type {
  KeyPage,
  KeyRecord,
  Principal,
  RevocationOrder,
  SettledRevocation,
} from '../../ledger/index.ts';
import type { SettledResult } from '../requests/queue.ts';
import { unexpected } from '../threads/failures.ts';
import type { KeyTask } from '../threads/messages.ts';
import type { KeyRecordQuery } from '../threads/statistics-messages.ts';
import type { KeyListQuery } from './key-list.ts';
import type { Statistics } from './statistics.ts';

/** Has the key worker do a task. Rejects with the task's failure. */
type Submit = (task: KeyTask) => Promise<Exclude<SettledResult, { kind: 'failed' }>>;

export class KeyRecords {
  readonly #statistics: Statistics;
  readonly #submit: Submit;

  constructor(statistics: Statistics, submit: Submit) {
    this.#statistics = statistics;
    this.#submit = submit;
  }

  /** Returns a page of an account's keys, newest first. */
  list(query: KeyListQuery): Promise<KeyPage> {
    return this.#statistics.keys(query);
  }

  /** Returns null if the account has no such key, or its row was pruned. */
  read(query: KeyRecordQuery): Promise<KeyRecord | null> {
    return this.#statistics.key(query);
  }

  /** Revokes a key of the principal's account. Resolves when the revocation is durable. */
  async revoke(
    { accountId, apiKeyId }: Pick<Principal, 'accountId' | 'apiKeyId'>,
    order: Omit<RevocationOrder, 'accountId'>,
  ): Promise<SettledRevocation> {
    const result = await this.#submit({
      kind: 'revoke',
      order: { ...order, accountId },
      apiKeyId,
    });
    if (result.kind !== 'revocation') throw unexpected(result);
    return result.outcome;
  }
}
