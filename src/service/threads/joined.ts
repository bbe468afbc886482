/** Joins what the tasks of a batch ask of the ledger. */

/** Sends the queries of one turn of the event loop together. */
export class Joined<Query, Found> {
  readonly #ask: (queries: readonly Query[]) => Promise<readonly Found[]>;
  #queries: Query[] = [];
  #found: Promise<readonly Found[]> | undefined;

  constructor(ask: (queries: readonly Query[]) => Promise<readonly Found[]>) {
    this.#ask = ask;
  }

  /** Returns what is found, in the order of the queries. */
  async find(queries: readonly Query[]): Promise<Found[]> {
    if (queries.length === 0) return [];
    const first = this.#queries.length;
    this.#queries.push(...queries);
    this.#found ??= Promise.resolve().then(() => this.#send());
    return (await this.#found).slice(first, first + queries.length);
  }

  #send(): Promise<readonly Found[]> {
    const queries = this.#queries;
    this.#queries = [];
    this.#found = undefined;
    return this.#ask(queries);
  }
}
