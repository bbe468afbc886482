/** Connections to one PostgreSQL database: a bounded pool, bounded waiting, failures told apart. */

import { Socket } from 'node:net';
import pg from 'pg';
import { HOUR_MS } from '../../clock.ts';
import { SetupError } from '../../errors.ts';
import { mayPass } from '../may-pass.ts';
import { unavailable } from '../unavailable.ts';
import { CONFIRMED_COMMITS, confirmed, UnconfirmedError } from './confirmation.ts';

/** Reads at a time. Commits have a connection of their own, so that no flood of reads holds them up. */
const MAX_READERS = 3;

const CONNECT_TIMEOUT_MS = 5_000;

/** How long work may take; zero is without limit. */
export interface Limits {
  readonly lockMs: number;
  readonly statementMs: number;
  /** For an answer that never comes because the way to the server is cut. */
  readonly answerMs: number;
}

/** Of a server's requests: somebody waits for the answer. */
const REQUEST_LIMITS: Limits = { lockMs: 4_000, statementMs: 6_000, answerMs: 8_000 };

/**
 * Of migrations and maintenance: nobody waits, and nobody may be made to. While one waits for the lock
 * of a table, all others wait behind it.
 */
export const MAINTENANCE_LIMITS: Limits = { lockMs: 500, statementMs: 0, answerMs: HOUR_MS };

/** SQLSTATE of a transaction that wanted to write and may not. */
const READ_ONLY = '25006';

/**
 * What a session must be set to, whatever the defaults of its role or database. No sequential scans: plans are
 * kept, and must not be those that suit an empty ledger.
 */
const sessionSettings = ({ statementMs, lockMs }: Limits) => `${CONFIRMED_COMMITS}
  SET default_transaction_isolation = 'read committed';
  SET enable_seqscan = off;
  SET statement_timeout = ${statementMs};
  SET lock_timeout = ${lockMs}`;

/** int8 as a number: all of ours stay below 2^53, but for fingerprints, which are never read. */
const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, Number);

export type Row = Record<string, unknown>;

export class PostgresConnection {
  readonly #readers: pg.Pool;
  readonly #writer: pg.Pool;
  /** All that are open: the driver leaves one alone on which it failed to log in. */
  readonly #sockets = new Set<Socket>();
  /** Statements by their text: each connection plans one once, over all partitions of the ledger. */
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
   * Connects, and has `prepare` see to what the caller needs of the database. Throws `SetupError`, which
   * never holds the password.
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

  /** Runs one statement. Rejects with what the driver reports. */
  run(sql: string, values: readonly unknown[] = []): Promise<pg.QueryResult<Row>> {
    return this.#run(this.#readers, sql, values);
  }

  /**
   * Runs one statement on the connection that is kept for commits, and resolves when its commit is confirmed:
   * by the synchronous standbys too, if there are any. Otherwise it rejects; `answerMs` bounds the wait for the
   * answer where less than the usual time is left.
   */
  commit(sql: string, values: readonly unknown[], answerMs?: number): Promise<pg.QueryResult<Row>> {
    return this.#commit(this.#writer, sql, values, answerMs);
  }

  async all(sql: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.guarded(() => this.run(sql, values))).rows;
  }

  async get(sql: string, ...values: unknown[]): Promise<Row | undefined> {
    return (await this.all(sql, ...values))[0];
  }

  /**
   * Runs a statement that changes one row or none; true when it changed one, and that is confirmed. When it fails
   * and may have been done all the same, the cause is an `UnconfirmedError`.
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

  /** Runs `work`, turning every failure of the database into `ledger_unavailable`. */
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
    // Zero and undefined leave the time to the session. The driver's types do not know the option here.
    const statement = { ...this.#statement(text, values), query_timeout: answerMs };
    return this.#with(pool, (client) => confirmed(client, () => client.query<Row>(statement)));
  }

  #statement(text: string, values: readonly unknown[]): pg.QueryConfig {
    const name = this.#names.get(text) ?? `phm_${this.#names.size}`;
    this.#names.set(text, name);
    return { name, text, values: [...values] };
  }

  /**
   * A connection on which something failed is not used again, unless the server itself said why. A
   * read-only one may stay so when its server does not: it was made while that was read-only.
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
  // A connection that breaks while it is idle leaves the pool by itself.
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

/** There was no connection: the statement was never sent. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** The transaction lost against another one, whole: the same statement may be tried again. */
export function isConflict(error: unknown): boolean {
  return /^40(001|P01)$/.test(stateOf(error));
}

/** The batch was refused because this store has no row among the writers (any more). */
export function isUnknownWriter(error: unknown): boolean {
  return stateOf(error) === 'P0002';
}

/** A lock was not to be had in the time allowed. */
export function isLockTimeout(error: unknown): boolean {
  return stateOf(error) === '55P03';
}

export function isUndefinedTable(error: unknown): boolean {
  return stateOf(error) === '42P01';
}

/**
 * True when the server answered that it did not do the work: the data or the statement is wrong (classes
 * 22, 23, 42, P0), a conflict (40), no room on its disk or in its memory (53), a lock that was not to be had
 * (55), a read-only server (25006) or a time-out (57014). Any other failure, and a lost connection above
 * all, leaves it open; so does a server that ends itself because its log finds no room.
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

/** What to do about a database that could not be opened. */
function remedy(cause: unknown): string {
  if (cause instanceof UnconfirmedError) return 'look at its standbys, then try again';
  const { code = '', message } = cause as NodeJS.ErrnoException;
  if (message.includes('client password must be')) {
    return 'it asks for a password, and the address has none';
  }
  if (/^28/.test(code)) return 'check user and password';
  if (code === '42501') {
    return 'its user has to own the tables of the ledger: see "PostgreSQL" in docs/operations.md#backup-and-restore';
  }
  if (code === '53300') return 'end other connections, or raise max_connections';
  if (/^E[A-Z]+$/.test(code) || /timeout|terminated/i.test(message)) {
    return 'check host and port, and that the server runs';
  }
  return 'check that the address names a PostgreSQL database that its user may create tables in';
}

/** The address without user, password and parameters. */
function describe(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${decodeURIComponent(hostname)}:${port || 5432}${pathname}`;
}

/** The same bytes as the driver takes them in arrays. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
