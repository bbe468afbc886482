/** What the validations of one batch ask of the ledger, gathered: each question goes there once. */
import type { Retirements } from '../../keys/validate.ts';
import type { LedgerStore, SecretCheck } from '../../ledger/index.ts';
import type { Commitment, Keyring } from '../../proof/index.ts';
import { lackedVersions, retirementsOf } from '../master-secret.ts';

export class BatchLookup {
  readonly #store: LedgerStore;
  readonly #keyring: Keyring;
  #queries: Commitment[] = [];
  #found: Promise<(number | null)[]> | undefined;
  #checks: Promise<ReadonlyMap<number, SecretCheck>> | undefined;

  constructor(store: LedgerStore, keyring: Keyring) {
    this.#store = store;
    this.#keyring = keyring;
  }

  /** When the rows of these commitments were made; null without a row. Asked with those of other tasks that ask now. */
  async find(queries: readonly Commitment[]): Promise<(number | null)[]> {
    if (queries.length === 0) return [];
    const first = this.#queries.length;
    this.#queries.push(...queries);
    this.#found ??= Promise.resolve().then(() => this.#ask());
    return (await this.#found).slice(first, first + queries.length);
  }

  #ask(): Promise<(number | null)[]> {
    const queries = this.#queries;
    this.#queries = [];
    this.#found = undefined;
    return this.#store.findCommitments(queries);
  }

  /** The retired versions of the master secret, as the ledger has them during this batch. */
  async retirements(): Promise<Retirements> {
    return retirementsOf(await this.#secretChecks());
  }

  /**
   * Versions of the master secret that keys were made under elsewhere and the keyring lacks. A version is
   * activated before the first key is made under it, and a key is made before it is validated: so one
   * question, at any time after the batch arrived, is in time for all.
   */
  async lackedVersions(): Promise<number[]> {
    return lackedVersions(this.#keyring, await this.#secretChecks());
  }

  #secretChecks(): Promise<ReadonlyMap<number, SecretCheck>> {
    this.#checks ??= this.#store.secretChecks();
    return this.#checks;
  }
}
