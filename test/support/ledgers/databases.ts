/**
 * The databases and roles of one test file, on a server of its own (`postgres.ts`) or on the run's, which files share
 * (`shared-postgres.ts`).
 */
import pg from 'pg';
import { migratePostgres } from '../../../src/ledger/postgres/store.ts';

export const PASSWORD = 'not-for-any-log';

/** The database with the schema and nothing else. */
export const EMPTY_LEDGER = 'empty_ledger';
/** A copy of it in which batches wait for locks. */
const WAITING_LEDGER = 'waiting_ledger';

export class Databases {
  readonly port: number;
  /**
   * True if batches in new ledgers wait long for locked accounts and keys, so that a slow machine leaves none out. For tests
   * of stores, which send nothing again as a server does.
   */
  waitsForLocks = false;
  readonly #prefix: string;

  /** `prefix` begins the names of this file's databases and roles: one server cannot have two of a name. */
  constructor(port: number, prefix = '') {
    this.port = port;
    this.#prefix = prefix;
  }

  /** Returns the name that a database or role of this file has on the server. */
  nameOf(name: string): string {
    return name === 'postgres' ? name : this.#prefix + name;
  }

  url(database: string, port: number = this.port): string {
    return `postgres://phm:${PASSWORD}@127.0.0.1:${port}/${this.nameOf(database)}`;
  }

  /** Creates a database, an empty one or a copy of another one of this file, and returns its address. */
  createDatabase(name: string, original?: string): Promise<string> {
    return this.#copy(original === undefined ? 'template1' : this.nameOf(original), name);
  }

  /** Creates a database with the schema and returns its address. */
  async createLedger(name: string): Promise<string> {
    // To copy a database takes a third of the time of the migrations.
    return this.#copy(await this.ledgerTemplate(), name);
  }

  /** Returns the database that a new ledger is a copy of: here one that the run has made. */
  protected async ledgerTemplate(): Promise<string> {
    return this.waitsForLocks ? WAITING_LEDGER : EMPTY_LEDGER;
  }

  async #copy(template: string, name: string): Promise<string> {
    await this.query('postgres', `CREATE DATABASE ${this.nameOf(name)} TEMPLATE ${template}`);
    return this.url(name);
  }

  /** Creates a role that may log in with the password of all, and returns its name. */
  async createRole(name: string): Promise<string> {
    const role = this.nameOf(name);
    await this.query('postgres', `CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
    return role;
  }

  /** Removes what this file made. */
  async remove(): Promise<void> {
    const mine = (table: string, column: string) =>
      this.query(
        'postgres',
        `SELECT ${column} AS name FROM ${table} WHERE starts_with(${column}, '${this.#prefix}')`,
      );
    const databases = await mine('pg_database', 'datname');
    // Side by side, because each waits for a checkpoint.
    await Promise.all(
      databases.map(({ name }) => this.query('postgres', `DROP DATABASE ${name} WITH (FORCE)`)),
    );
    for (const { name } of await mine('pg_roles', 'rolname')) {
      await this.query('postgres', `DROP ROLE ${name}`);
    }
  }

  /** Stops the database's clock at a time; null lets it run again. */
  async setClock(database: string, atMs: number | null): Promise<void> {
    const time = atMs ?? 'floor(extract(epoch FROM clock_timestamp()) * 1000)';
    await this.query(
      database,
      `CREATE OR REPLACE FUNCTION ledger_clock_ms() RETURNS bigint LANGUAGE sql AS
       $$ SELECT ${time}::bigint $$`,
    );
  }

  /** Opens a connection beside the store's. The caller ends it. */
  async connect(database: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url(database) });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  /** Runs statements on a connection of their own. */
  async query(database: string, sql: string): Promise<Record<string, unknown>[]> {
    const client = await this.connect(database);
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }
}

/** Makes the databases on a server that files share which their ledgers are copies of. */
export async function makeTemplates(server: Databases): Promise<void> {
  await migratePostgres(await server.createDatabase(EMPTY_LEDGER));
  await server.createDatabase(WAITING_LEDGER, EMPTY_LEDGER);
  await letBatchesWait(server, WAITING_LEDGER);
}

export async function letBatchesWait(server: Databases, database: string): Promise<void> {
  for (const name of ['lock_accounts', 'lock_key_states']) {
    await server.query(database, `ALTER FUNCTION ${name} SET lock_timeout = '1min'`);
  }
}
