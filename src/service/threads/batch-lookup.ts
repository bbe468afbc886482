/** Gathers the ledger queries of one batch of validations, so that each is sent once. */
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

  /** Returns the creation times of the rows of these commitments; null without a row. Joins concurrent queries. */
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

  /** Returns the retired versions of the master secret, read once for this batch. */
  async retirements(): Promise<Retirements> {
    return retirementsOf(await this.#secretChecks());
  }

  /**
   * Returns the versions of the master secret that other servers use and the keyring lacks. A version is activated
   * before the first key is generated under it, and a key is generated before it is validated. So one query at any time
   * after the batch arrived is early enough for all tasks.
   */
  async lackedVersions(): Promise<number[]> {
    return lackedVersions(this.#keyring, await this.#secretChecks());
  }

  #secretChecks(): Promise<ReadonlyMap<number, SecretCheck>> {
    this.#checks ??= this.#store.secretChecks();
    return this.#checks;
  }
}
