/** What the checks share: configuration and database, each read once and only if a check needs it. */
import { availableParallelism } from 'node:os';
import { type Config, type ConfigResult, readConfig } from '../../config/index.ts';
import { SOURCE_NAMES } from '../../entropy/index.ts';
import { type Inspection, inspectDatabase } from '../../ledger/admin.ts';
import {
  describeStore,
  type LedgerStore,
  openStoreToRead,
  type StoreLocation,
  storeLocation,
} from '../../ledger/index.ts';
import type { CliContext } from '../context.ts';
import { Skipped, within } from './finding.ts';

/** How long the database may take to answer. */
const DATABASE_LIMIT_MS = 5_000;

export class Site {
  readonly reading: ConfigResult;
  /** What the command of the master secret has written to standard error. */
  readonly said: string[] = [];
  readonly #env: CliContext['env'];
  #inspection: Promise<Inspection | null> | null = null;
  #store: Promise<LedgerStore> | null = null;

  constructor({ env }: Pick<CliContext, 'env'>) {
    this.#env = env;
    const cores = availableParallelism();
    const say = (text: string) => this.said.push(text);
    this.reading = readConfig(env, { cores, knownSources: SOURCE_NAMES, serves: true, say });
  }

  /** Throws `Skipped` if the configuration is invalid. */
  get config(): Config {
    if (this.reading.ok) return this.reading.config;
    throw new Skipped('the configuration is invalid');
  }

  /** Returns a variable of the environment; undefined if it is not set. */
  variable(name: string): string | undefined {
    return this.#env[name]?.trim() || undefined;
  }

  /** Inspects the database; null if there is no embedded one yet. Rejects with `SetupError`. */
  async inspection(): Promise<Inspection | null> {
    const location = storeLocation(this.config);
    this.#inspection ??= withinLimit(location, () => inspectDatabase(location));
    return this.#inspection;
  }

  /** Inspects the database for a check that depends on it. Rejects with `Skipped` if it holds no ledger. */
  async database(): Promise<Inspection> {
    const inspection = await this.inspection().catch((error) => {
      throw error instanceof Skipped ? error : new Skipped('the database cannot be used');
    });
    if (inspection === null) throw new Skipped('there is no database yet');
    if (inspection.schema === null) throw new Skipped('the database was not opened');
    return inspection;
  }

  /** Returns the open store. Rejects with the reason why it cannot be opened. */
  async openStore(): Promise<LedgerStore> {
    await this.database();
    const location = storeLocation(this.config);
    this.#store ??= withinLimit(location, () => openStoreToRead(location));
    return this.#store;
  }

  /** Returns the open store for a check that depends on it. Rejects with `Skipped` if it cannot be opened. */
  async store(): Promise<LedgerStore> {
    return this.openStore().catch((error) => {
      throw error instanceof Skipped ? error : new Skipped('the schema does not fit this program');
    });
  }

  async close(): Promise<void> {
    const store = await this.#store?.catch(() => null);
    await store?.close();
  }
}

function withinLimit<T>(location: StoreLocation, work: () => Promise<T>): Promise<T> {
  return within(DATABASE_LIMIT_MS, describeStore(location), work);
}
