/** Gathers the ledger queries of one batch of tasks, so that each kind is sent once. */
import type { Retirements } from '../../keys/validate.ts';
import type {
  AnswerQuery,
  KeyState,
  LedgerStore,
  RecipientRecord,
  SecretCheck,
  StoredAnswer,
} from '../../ledger/index.ts';
import type { Commitment, Keyring } from '../../proof/index.ts';
import { lackedVersions, requireOwnSecret, retirementsOf } from '../secret/versions.ts';
import { Joined } from './joined.ts';

export class BatchLookup {
  readonly #store: LedgerStore;
  readonly #keyring: Keyring;
  readonly #commitments: Joined<Commitment, number | null>;
  readonly #states: Joined<Commitment, KeyState | null>;
  readonly #answers: Joined<AnswerQuery, StoredAnswer | null>;
  readonly #recipients = new Map<string, Promise<RecipientRecord | null>>();
  #checks: Promise<ReadonlyMap<number, SecretCheck>> | undefined;

  constructor(store: LedgerStore, keyring: Keyring) {
    this.#store = store;
    this.#keyring = keyring;
    this.#commitments = new Joined((queries) => store.findCommitments(queries));
    this.#states = new Joined((queries) => store.findStates(queries));
    this.#answers = new Joined((queries) => store.findAnswers(queries));
  }

  /** Returns the creation times of the rows of these commitments; null without a row. Joins concurrent queries. */
  find(queries: readonly Commitment[]): Promise<(number | null)[]> {
    return this.#commitments.find(queries);
  }

  /** Returns the states under these commitments; null without one. Joins concurrent queries. */
  findStates(queries: readonly Commitment[]): Promise<(KeyState | null)[]> {
    return this.#states.find(queries);
  }

  /** Returns the answer of an earlier request, or null. Joins concurrent queries. */
  async findAnswer(query: AnswerQuery): Promise<StoredAnswer | null> {
    const [answer = null] = await this.#answers.find([query]);
    return answer;
  }

  /** Returns a registered recipient, read once for this batch: many keys of an account usually go to one. */
  findRecipient(accountId: string, name: string): Promise<RecipientRecord | null> {
    const key = `${accountId} ${name}`;
    const found = this.#recipients.get(key) ?? this.#store.findRecipient(accountId, name);
    this.#recipients.set(key, found);
    return found;
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

  /** Rejects with `foreign_ledger` if the ledger does not know the keyring: then none of its rows counts. */
  #secretChecks(): Promise<ReadonlyMap<number, SecretCheck>> {
    this.#checks ??= this.#store.secretChecks().then((registered) => {
      requireOwnSecret(this.#keyring, registered);
      return registered;
    });
    return this.#checks;
  }
}
