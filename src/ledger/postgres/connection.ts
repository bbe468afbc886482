/**
 * Connections to one PostgreSQL database: statements, transactions and commits with bounded waits, and a
 * classification of failures.
 */

import pg from 'pg';
import { HOUR_MS } from '../../clock.ts';
import {
  describeAddress,
  type PostgresAddress,
  parsePostgresAddress,
} from '../../config/postgres-address.ts';
import { SetupError } from '../../errors.ts';
import { ForeignLedgerError, type LedgerIdentity } from '../identity.ts';
import { mayPass } from '../may-pass.ts';
import { unavailable } from '../unavailable.ts';
import { confirmed, UnconfirmedError } from './confirmation.ts';
import { DisturbedError } from './disturbed-error.ts';
import { type HostOptions, Hosts } from './hosts.ts';
import { NoHostError, UnfitServerError } from './session-check.ts';
import type { Limits, Site } from './site.ts';

/** Limit of a pause between two statements of a transaction, whose locks others wait for. */
const IDLE_LIMIT_MS = 10_000;

/** Limits of requests: a client waits for the answer. */
const REQUEST_LIMITS: Limits = { lockMs: 4_000, statementMs: 6_000, answerMs: 8_000 };

/**
 * Limits of migrations and maintenance. Statements may run long. The lock timeout is short, because other
 * sessions queue behind a session that waits for a table lock.
 */
export const MAINTENANCE_LIMITS: Limits = { lockMs: 500, statementMs: 0, answerMs: HOUR_MS };

/** SQLSTATE of a refused write in a read-only transaction. */
const READ_ONLY = '25006';

export type Row = Record<string, unknown>;

/** Commits have a pool of their own. */
type Pool = keyof Pick<Site, 'readers' | 'writer'>;

interface ConnectionOptions extends HostOptions {
  /** Called before each use of a session. Rejects if the session must not be used. */
  readonly guard?: { require(client: pg.ClientBase): Promise<void> };
}

/** Runs one statement of a transaction or a session. */
export type Run = (sql: string, values?: readonly unknown[]) => Promise<pg.QueryResult<Row>>;

export class PostgresConnection {
  readonly #hosts: Hosts;
  readonly #guard: ConnectionOptions['guard'];
  /**
   * Names of prepared statements by their text. Each connection plans a statement once, over all partitions
   * of the ledger.
   */
  readonly #names = new Map<string, string>();

  private constructor(address: PostgresAddress, limits: Limits, options?: ConnectionOptions) {
    this.#hosts = new Hosts(address, limits, options);
    this.#guard = options?.guard;
  }

  /** Connects and runs `prepare` on the first connection. Throws `SetupError`, which never contains the password. */
  static async open(
    url: string,
    prepare: (client: pg.ClientBase) => Promise<void> = async () => {},
    limits: Limits = REQUEST_LIMITS,
    options?: ConnectionOptions,
  ): Promise<PostgresConnection> {
    const address = parsePostgresAddress(url);
    const connection = new PostgresConnection(address, limits, options);
    try {
      await connection.#with('readers', prepare);
      return connection;
    } catch (cause) {
      await connection.close();
      const root = rootOf(cause as Error);
      if (root instanceof SetupError) throw root;
      throw new SetupError(
        `cannot use the database ${describeAddress(address)}: ${(cause as Error).message}; ${remedy(root)}`,
        { cause, mayPass: mayPass(cause) },
      );
    }
  }

  /** Runs one statement. Rejects with the driver's error. */
  run(sql: string, values: readonly unknown[] = []): Promise<pg.QueryResult<Row>> {
    return this.#run('readers', sql, values);
  }

  /**
   * Runs one statement on the connection reserved for commits. Resolves when its commit is confirmed, by
   * the synchronous standbys too if there are any; otherwise rejects. `answerMs` shortens the wait for the
   * answer.
   */
  commit(sql: string, values: readonly unknown[], answerMs?: number): Promise<pg.QueryResult<Row>> {
    return this.#commit('writer', sql, values, answerMs);
  }

  /**
   * Runs `work` in one transaction on the connection reserved for commits. Resolves when its commit is
   * confirmed, as `commit` does. Rejects with the error of `work` or of the driver; an answer that was lost
   * leaves the outcome unknown. If this process stops in the middle, the server ends the transaction.
   */
  transact<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const run = (client: pg.PoolClient): Run => {
      return async (sql, values = []) => await client.query<Row>(this.#statement(sql, values));
    };
    return this.#with('writer', async (client) => {
      await client.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_LIMIT_MS}`);
      try {
        const result = await work(run(client));
        await confirmed(client, () => client.query('COMMIT'));
        return result;
      } catch (error) {
        // `#with` keeps the connection only after an error of the server.
        if (isRefusal(error)) await client.query('ROLLBACK');
        throw error;
      }
    });
  }

  /**
   * Runs `work` on one connection, whose statements are no transaction and are not prepared. Settings that it changes
   * stay. Rejects with the error of `work` or of the driver.
   */
  session<T>(work: (run: Run) => Promise<T>): Promise<T> {
    return this.#with('readers', (client) => work((sql) => client.query<Row>(sql)));
  }

  async all(sql: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.guarded(() => this.run(sql, values))).rows;
  }

  async get(sql: string, ...values: unknown[]): Promise<Row | undefined> {
    return (await this.all(sql, ...values))[0];
  }

  /**
   * Runs a statement that changes at most one row. Returns true if it changed one and the change is
   * confirmed. If it fails but may have been done, the cause is an `UnconfirmedError`.
   */
  async changes(sql: string, ...values: unknown[]): Promise<boolean> {
    return (await this.changed(sql, ...values)) !== undefined;
  }

  /** Like `changes`, and returns what the statement returns of the changed row; undefined if it changed none. */
  async changed(sql: string, ...values: unknown[]): Promise<Row | undefined> {
    const [row, ...others] = await this.changedRows(sql, ...values);
    return others.length === 0 ? row : undefined;
  }

  /** Like `changed`, of a statement that changes any number of rows. */
  async changedRows(sql: string, ...values: unknown[]): Promise<Row[]> {
    const change = this.#commit('readers', sql, values).catch((error) => {
      const isSettled = isRefusal(error) || error instanceof NotSentError;
      throw isSettled || error instanceof UnconfirmedError
        ? error
        : new UnconfirmedError(error.message);
    });
    const { rowCount, rows } = await this.guarded(() => change);
    return rows.length > 0 ? rows : Array.from({ length: rowCount ?? 0 }, () => ({}));
  }

  /** Runs `work` and converts every failure of the database to `ledger_unavailable`. */
  async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Reads which ledger this is. Rejects if there is none. */
  async ledger(): Promise<LedgerIdentity> {
    const found = await this.#with('readers', (client) => this.#hosts.confirmLedger(client, 0));
    if (found === null) throw new Error('the database holds no ledger');
    return found;
  }

  /** The host in use, as in the address; null while there is none. */
  get host(): string | null {
    return this.#hosts.used;
  }

  close(): Promise<void> {
    return this.#hosts.close();
  }

  #run(pool: Pool, text: string, values: readonly unknown[]): Promise<pg.QueryResult<Row>> {
    const statement = this.#statement(text, values);
    return this.#with(pool, (client) => client.query<Row>(statement));
  }

  #commit(
    pool: Pool,
    text: string,
    values: readonly unknown[],
    answerMs?: number,
  ): Promise<pg.QueryResult<Row>> {
    // Zero and undefined leave the timeout to the session. The driver's types lack the option.
    const statement = { ...this.#statement(text, values), query_timeout: answerMs };
    return this.#with(pool, (client) => confirmed(client, () => client.query<Row>(statement)));
  }

  #statement(text: string, values: readonly unknown[]): pg.QueryConfig {
    const name = this.#names.get(text) ?? `phm_${this.#names.size}`;
    this.#names.set(text, name);
    return { name, text, values: [...values] };
  }

  /**
   * Runs `work` on a connection of the pool. A connection on which something failed is not reused, unless
   * the server itself reported the error. A read-only one is not reused either: it may stay read-only after
   * its server is writable again.
   */
  async #with<T>(pool: Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect(pool);
    const ignore = () => {};
    client.on('error', ignore);
    let failed = true;
    try {
      await this.#admit(client);
      const result = await work(client);
      failed = false;
      return result;
    } catch (error) {
      const isReadOnly = stateOf(error) === READ_ONLY;
      if (isReadOnly) this.#hosts.lookAgain();
      failed = !(isRefusal(error) || isDisturbed(error)) || isReadOnly;
      throw error;
    } finally {
      client.off('error', ignore);
      client.release(failed);
    }
  }

  /** Rejects with `NotSentError` if the session must not be used. */
  async #admit(client: pg.ClientBase): Promise<void> {
    try {
      await this.#hosts.confirmLedger(client);
      await this.#guard?.require(client);
    } catch (cause) {
      throw new NotSentError((cause as Error).message, { cause });
    }
  }

  /** Returns a connection, of the next host that fits if the one in use gives none. */
  async #connect(pool: Pool): Promise<pg.PoolClient> {
    try {
      const site = await this.#hosts.site();
      return await site[pool].connect().catch(async (cause) => {
        return (await this.#hosts.after(site, cause))[pool].connect();
      });
    } catch (cause) {
      throw new NotSentError((cause as Error).message, { cause });
    }
  }
}

/** No connection was available, or it must not be used, so the statement was never sent. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

function isDisturbed(error: unknown): boolean {
  return error instanceof NotSentError && error.cause instanceof DisturbedError;
}

/** Returns true if the whole transaction lost against another one, so the same statement may be retried. */
export function isConflict(error: unknown): boolean {
  return /^40(001|P01)$/.test(stateOf(error));
}

/**
 * Returns true if this session did not find the partition of a month. The batch makes a missing one and tries again by itself, but
 * another session may just have made it: PostgreSQL shows its row a moment before it tells other sessions to look anew.
 */
export function lacksMonth(error: unknown): boolean {
  // A check that is no constraint: where a row belongs.
  return stateOf(error) === '23514' && (error as pg.DatabaseError).constraint === undefined;
}

/** Returns true if the batch was refused because this store has no row in `writers`. */
export function isUnknownWriter(error: unknown): boolean {
  return stateOf(error) === 'P0002';
}

/** Returns true if a lock was not available within the time limit. */
export function isLockTimeout(error: unknown): boolean {
  return stateOf(error) === '55P03';
}

export function isUndefinedTable(error: unknown): boolean {
  return stateOf(error) === '42P01';
}

/**
 * Returns true if the server answered that it did not do the work: wrong data or statement (classes 0A, 22,
 * 23, 42, 54, P0), dropped rows (PH), a conflict (40), no room on disk or in memory (53), an unavailable lock (55), a read-only server
 * (25006) or a timeout (57014). Any other failure leaves the outcome unknown, above all a lost connection,
 * but also a server that shuts down because its log finds no room.
 */
export function isRefusal(error: unknown): boolean {
  const state = stateOf(error);
  if (state.startsWith('53')) return (error as pg.DatabaseError).severity === 'ERROR';
  return (
    /^(0A|22|23|40(001|002|P01)|42|54|55|P0|PH)/.test(state) ||
    state === READ_ONLY ||
    state === '57014'
  );
}

function stateOf(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}

/** Returns the error behind the words about the connection and its hosts. */
function rootOf(error: Error): unknown {
  const cause = error instanceof NotSentError ? error.cause : error;
  return cause instanceof NoHostError ? cause.cause : cause;
}

/** Returns the remedy for a database that could not be opened. */
function remedy(cause: unknown): string {
  if (cause instanceof UnconfirmedError) return 'check its standbys, then try again';
  if (cause instanceof DisturbedError) return 'undo it, then try again';
  if (cause instanceof ForeignLedgerError) return 'check where the address leads';
  if (cause instanceof UnfitServerError) return 'promote a standby, or end the read-only mode';
  const { code = '', message } = cause as NodeJS.ErrnoException;
  if (message.includes('client password must be')) {
    return 'it asks for a password, and the address has none';
  }
  if (/^28/.test(code)) return 'check user and password';
  if (code === '42501') {
    return 'its user must own the tables and functions of the ledger: see "PostgreSQL" in docs/operations.md#backup-and-restore';
  }
  if (code === '53300') return 'end other connections, or raise max_connections';
  if (/^57P0[1-3]$/.test(code)) return 'it is starting or shutting down: try again when it runs';
  if (/^E[A-Z]+$/.test(code) || /timeout|terminated/i.test(message)) {
    return 'check host and port, and that the server runs';
  }
  return 'check that the address names a PostgreSQL database that its user may create tables in';
}

/** Returns the hexadecimal input form of a bytea. */
export function bytea(bytes: Uint8Array): string {
  return `\\x${toBuffer(bytes).toString('hex')}`;
}

/** Returns the same bytes as a Buffer, which the driver needs in arrays. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
