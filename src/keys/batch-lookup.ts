/** What the validations of one batch ask of the ledger, gathered: each question goes there once. */
import type { CommitmentQuery, LedgerStore } from '../ledger/index.ts';
import type { Keyring } from '../proof/index.ts';
import { lackedVersions } from './master-secret.ts';

export class BatchLookup {
  readonly #store: LedgerStore;
  readonly #keyring: Keyring;
  readonly #queries: CommitmentQuery[] = [];
  #found: Promise<boolean[]> | undefined;
  #lacked: Promise<number[]> | undefined;

  constructor(store: LedgerStore, keyring: Keyring) {
    this.#store = store;
    this.#keyring = keyring;
  }

  /** Which of these commitments have a row. Asked when every task of the batch has had its say. */
  async find(queries: readonly CommitmentQuery[]): Promise<boolean[]> {
    if (queries.length === 0) return [];
    const first = this.#queries.length;
    this.#queries.push(...queries);
    this.#found ??= Promise.resolve().then(() => this.#store.findCommitments(this.#queries));
    return (await this.#found).slice(first, first + queries.length);
  }

  /**
   * Versions of the master secret that keys were made under elsewhere and the keyring lacks. A version is
   * activated before the first key is made under it, and a key is made before it is validated: so one
   * question, at any time after the batch arrived, is in time for all.
   */
  lackedVersions(): Promise<number[]> {
    this.#lacked ??= this.#store
      .secretChecks()
      .then((checks) => lackedVersions(this.#keyring, checks));
    return this.#lacked;
  }
}
