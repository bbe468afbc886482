/**
 * Connections to one PostgreSQL database: a bounded pool with bounded waits, and a classification of
 * failures.
 */

import { Socket } from 'node:net';
import pg from 'pg';
import { HOUR_MS } from '../../clock.ts';
import { SetupError } from '../../errors.ts';
import { mayPass } from '../may-pass.ts';
import { unavailable } from '../unavailable.ts';
import { CONFIRMED_COMMITS, confirmed, UnconfirmedError } from './confirmation.ts';

/** Limit of concurrent reads. Commits have their own connection, so no flood of reads delays them. */
const MAX_READERS = 3;

const CONNECT_TIMEOUT_MS = 5_000;

/** Time limits of work; zero means no limit. */
export interface Limits {
  readonly lockMs: number;
  readonly statementMs: number;
  /** Limit of the wait for an answer, in case the network is cut. */
  readonly answerMs: number;
}

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

/**
 * Settings of each session, whatever the defaults of its role or database. Sequential scans are off,
 * because a session keeps its plans, and a plan made for an empty ledger would stay slow.
 */
const sessionSettings = ({ statementMs, lockMs }: Limits) => `${CONFIRMED_COMMITS}
  SET default_transaction_isolation = 'read committed';
  SET enable_seqscan = off;
  SET statement_timeout = ${statementMs};
  SET lock_timeout = ${lockMs}`;

/** Reads int8 as a number. All values stay below 2^53 except fingerprints, which are never read. */
const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, Number);

export type Row = Record<string, unknown>;

/** Runs one statement of a transaction. */
export type Run = (sql: string, values: readonly unknown[]) => Promise<pg.QueryResult<Row>>;

export class PostgresConnection {
  readonly #readers: pg.Pool;
  readonly #writer: pg.Pool;
  /** All open sockets. The driver does not close one on which its login failed. */
  readonly #sockets = new Set<Socket>();
  /**
   * Names of prepared statements by their text. Each connection plans a statement once, over all partitions
   * of the ledger.
   */
  readonly #names = new Map<string, string>();

  private constructor(url: string, limits: Limits) {
    const stream = () => {
      const socket = new Socket();
      this.#sockets.add(socket);
      return socket.once('close', () => this.#sockets.delete(socket));
    };
    this.#readers = openPool(url, MAX_READERS, limits, stream);
    this.#writer = openPool(url, 1, limits, stream);
  }

  /**
   * Connects and runs `prepare` on the first connection. Throws `SetupError`, which never contains the
   * password.
   */
  static async open(
    url: string,
    prepare: (client: pg.ClientBase) => Promise<void> = async () => {},
    limits: Limits = REQUEST_LIMITS,
  ): Promise<PostgresConnection> {
    const connection = new PostgresConnection(url, limits);
    try {
      await connection.#with(connection.#readers, prepare);
      return connection;
    } catch (cause) {
      await connection.close();
      if (cause instanceof SetupError) throw cause;
      throw new SetupError(
        `cannot use the database ${describe(url)}: ${(cause as Error).message}; ${remedy((cause as Error).cause ?? cause)}`,
        { mayPass: mayPass(cause) },
      );
    }
  }

  /** Runs one statement. Rejects with the driver's error. */
  run(sql: string, values: readonly unknown[] = []): Promise<pg.QueryResult<Row>> {
    return this.#run(this.#readers, sql, values);
  }

  /**
   * Runs one statement on the connection reserved for commits. Resolves when its commit is confirmed, by
   * the synchronous standbys too if there are any; otherwise rejects. `answerMs` shortens the wait for the
   * answer.
   */
  commit(sql: string, values: readonly unknown[], answerMs?: number): Promise<pg.QueryResult<Row>> {
    return this.#commit(this.#writer, sql, values, answerMs);
  }

  /**
   * Runs `work` in one transaction on the connection reserved for commits. Resolves when its commit is
   * confirmed, as `commit` does. Rejects with the error of `work` or of the driver; an answer that was lost
   * leaves the outcome unknown. If this process stops in the middle, the server ends the transaction.
   */
  transact<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const run = (client: pg.PoolClient): Run => {
      return async (sql, values) => await client.query<Row>(this.#statement(sql, values));
    };
    return this.#with(this.#writer, async (client) => {
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
    const change = this.#commit(this.#readers, sql, values).catch((error) => {
      const isSettled = isRefusal(error) || error instanceof NotSentError;
      throw isSettled || error instanceof UnconfirmedError
        ? error
        : new UnconfirmedError(error.message);
    });
    return (await this.guarded(() => change)).rowCount === 1;
  }

  /** Runs `work` and converts every failure of the database to `ledger_unavailable`. */
  async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw unavailable(error);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#readers.end(), this.#writer.end()]);
    for (const socket of this.#sockets) socket.destroy();
  }

  #run(pool: pg.Pool, text: string, values: readonly unknown[]): Promise<pg.QueryResult<Row>> {
    const statement = this.#statement(text, values);
    return this.#with(pool, (client) => client.query<Row>(statement));
  }

  #commit(
    pool: pg.Pool,
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
  async #with<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await connect(pool);
    const ignore = () => {};
    client.on('error', ignore);
    let failed = true;
    try {
      const result = await work(client);
      failed = false;
      return result;
    } catch (error) {
      failed = !isRefusal(error) || stateOf(error) === READ_ONLY;
      throw error;
    } finally {
      client.off('error', ignore);
      client.release(failed);
    }
  }
}

function openPool(url: string, max: number, limits: Limits, stream: () => Socket): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    stream,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: limits.answerMs,
    keepAlive: true,
    application_name: 'phm',
    types: TYPES,
    onConnect: (client) => client.query(sessionSettings(limits)),
  });
  // A connection that breaks while idle leaves the pool by itself.
  pool.on('error', () => {});
  return pool;
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (cause) {
    throw new NotSentError((cause as Error).message, { cause });
  }
}

/** No connection was available, so the statement was never sent. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** Returns true if the whole transaction lost against another one, so the same statement may be retried. */
export function isConflict(error: unknown): boolean {
  return /^40(001|P01)$/.test(stateOf(error));
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
 * Returns true if the server answered that it did not do the work: wrong data or statement (classes 22, 23,
 * 42, P0), a conflict (40), no room on disk or in memory (53), an unavailable lock (55), a read-only server
 * (25006) or a timeout (57014). Any other failure leaves the outcome unknown, above all a lost connection,
 * but also a server that shuts down because its log finds no room.
 */
export function isRefusal(error: unknown): boolean {
  const state = stateOf(error);
  if (state.startsWith('53')) return (error as pg.DatabaseError).severity === 'ERROR';
  return (
    /^(22|23|40(001|002|P01)|42|55|P0)/.test(state) || state === READ_ONLY || state === '57014'
  );
}

function stateOf(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}

/** Returns the remedy for a database that could not be opened. */
function remedy(cause: unknown): string {
  if (cause instanceof UnconfirmedError) return 'check its standbys, then try again';
  const { code = '', message } = cause as NodeJS.ErrnoException;
  if (message.includes('client password must be')) {
    return 'it asks for a password, and the address has none';
  }
  if (/^28/.test(code)) return 'check user and password';
  if (code === '42501') {
    return 'its user must own the tables of the ledger: see "PostgreSQL" in docs/operations.md#backup-and-restore';
  }
  if (code === '53300') return 'end other connections, or raise max_connections';
  if (/^57P0[1-3]$/.test(code)) return 'it is starting or shutting down: try again when it runs';
  if (/^E[A-Z]+$/.test(code) || /timeout|terminated/i.test(message)) {
    return 'check host and port, and that the server runs';
  }
  return 'check that the address names a PostgreSQL database that its user may create tables in';
}

/** Returns the address without user, password and parameters. */
function describe(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${decodeURIComponent(hostname)}:${port || 5432}${pathname}`;
}

/** Returns the hexadecimal input form of a bytea. */
export function bytea(bytes: Uint8Array): string {
  return `\\x${toBuffer(bytes).toString('hex')}`;
}

/** Returns the same bytes as a Buffer, which the driver needs in arrays. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
