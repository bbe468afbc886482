/** Bounded pools of connections to one database server, which end together. */
import { Socket } from 'node:net';
import pg from 'pg';
import type { PostgresAddress, PostgresHost } from '../../config/postgres-address.ts';
import { clientOptions } from './client-options.ts';
import { CONFIRMED_COMMITS } from './confirmation.ts';
import { requireKeptSession } from './pooler.ts';
import { NOTE_CLUSTER, SESSION_CHECK, type Session } from './session-check.ts';
import { FOUND_LEDGER, type FoundLedger, LEAVE_PATH, pinLedger } from './session-ledger.ts';

/** Limit of concurrent reads. Commits have their own connection, so no flood of reads delays them. */
const MAX_READERS = 3;

/** Time limits of work; zero means no limit. */
export interface Limits {
  readonly lockMs: number;
  readonly statementMs: number;
  /** Limit of the wait for an answer, in case the network is cut. */
  readonly answerMs: number;
}

/** Reads int8 as a number. All values stay below 2^53 except fingerprints, which are never read. */
const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, Number);

/**
 * Settings of each session, whatever the defaults of its role or database. Sequential scans are off,
 * because a session keeps its plans, and a plan made for an empty ledger would stay slow. JIT is off, because the planner
 * adds 10^10 to the cost of a scan that it cannot avoid. It would compile such a statement at each execution, for 100 ms
 * and more, although the table has a few rows. With `row_security` off, a policy that would hide rows is an error.
 */
const sessionSettings = ({ statementMs, lockMs }: Limits) => `${CONFIRMED_COMMITS}
  SET default_transaction_isolation = 'read committed';
  SET row_security = off;
  SET enable_seqscan = off;
  SET jit = off;
  SET statement_timeout = ${statementMs};
  SET lock_timeout = ${lockMs}`;

/** What a new session is. */
export interface OpenedSession extends FoundLedger {
  readonly client: pg.ClientBase;
  /** Null if the address takes any server. */
  readonly session: Session | null;
}

interface SiteOptions {
  readonly address: PostgresAddress;
  readonly host: PostgresHost;
  readonly limits: Limits;
  readonly timeline: number | null;
  /** Returns the schema of the ledger; null before the first session. */
  readonly schema: () => string | null;
  /** Throws if a new session must not be used. */
  readonly admit: (site: Site, opened: OpenedSession) => void;
}

export class Site {
  readonly host: PostgresHost;
  readonly readers: pg.Pool;
  readonly writer: pg.Pool;
  /** The timeline that the server writes; null until a session has told. */
  timeline: number | null;
  /** All open sockets. The driver does not close one on which its login failed. */
  readonly #sockets = new Set<Socket>();

  constructor(options: SiteOptions) {
    this.host = options.host;
    this.timeline = options.timeline;
    this.readers = this.#openPool(options, MAX_READERS);
    this.writer = this.#openPool(options, 1);
  }

  /** Waits for work in progress, then ends all connections. */
  async close(): Promise<void> {
    await Promise.all([this.readers.end(), this.writer.end()]);
    for (const socket of this.#sockets) socket.destroy();
  }

  /**
   * Ends all connections at once. Work in progress fails: the answer of a server that was
   * replaced proves nothing.
   */
  abandon(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.close().catch(() => {});
  }

  #openPool({ address, host, limits, schema, admit }: SiteOptions, max: number): pg.Pool {
    const settings = sessionSettings(limits);
    const check = address.target === 'any' ? '' : `${SESSION_CHECK};`;
    const options = { ...clientOptions(address, host), stream: () => this.#openSocket() };
    const second = () => new pg.Client({ ...options, query_timeout: address.connectTimeoutMs });
    const pool = new pg.Pool({
      ...options,
      max,
      query_timeout: limits.answerMs,
      types: TYPES,
      onConnect: async (client) => {
        const look = `${NOTE_CLUSTER};${pinLedger(schema())};${check}${FOUND_LEDGER}`;
        // Several statements in one query give several results, which the driver's types lack.
        const results = await client.query(`${LEAVE_PATH}${settings};${look}`);
        const [checked, last] = (results as unknown as pg.QueryResult[]).slice(-2);
        const session = check === '' ? null : (checked?.rows[0] as Session);
        const found = last?.rows[0] as FoundLedger;
        await requireKeptSession(client, found.backend, second);
        admit(this, { client, session, ...found });
      },
    });
    // A connection that breaks while idle leaves the pool by itself.
    pool.on('error', () => {});
    return pool;
  }

  #openSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    return socket.once('close', () => this.#sockets.delete(socket));
  }
}
