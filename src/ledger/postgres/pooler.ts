/**
 * Recognizes a pooler that does not keep sessions, such as PgBouncer with `pool_mode = transaction`. Behind one, the next
 * statement may reach another session of the server, which lacks this session's settings, among them those that make a
 * commit durable, and its prepared statements. The database answers all the same.
 *
 * PostgreSQL tells each client the process that serves it, in `BackendKeyData`; a pooler puts a number of its own there. Only
 * then is a second connection opened. While a client is connected, no other one reaches its process, if sessions are kept.
 * A pooler that does not keep them gives the second connection the process that the first one has just left.
 */
import type pg from 'pg';
import { SetupError } from '../../errors.ts';

/** Attempts to meet the process of a session again: other clients of a pooler may take it at the same moment. */
const MAX_ATTEMPTS = 5;

/** PgBouncer's words for BEGIN with `pool_mode = statement`. */
const NO_TRANSACTIONS = /statement pooling/;

const BACKEND = 'SELECT pg_catalog.pg_backend_pid() AS backend';

/** The address leads to a pooler that gives statements of one session to several sessions of the server. */
class PoolerError extends SetupError {
  constructor(mode: 'transaction' | 'statement') {
    super(
      `the address of the database leads to a pooler that does not keep sessions, as PgBouncer with pool_mode = ${mode}: ` +
        'commits could lose the settings that make them durable. Set pool_mode = session for this database, or name the ' +
        'PostgreSQL server itself in PHM_DATABASE_URL, and restart this server',
    );
  }
}

/** Throws `PoolerError` if a session that `backend` served before is now served by another process. */
export function requireSameBackend(backend: number | undefined, now: number): void {
  if (backend !== undefined && backend !== now) throw new PoolerError('transaction');
}

/**
 * Rejects with `PoolerError` if a pooler does not keep `session`, which `backend` served. `second` returns another
 * connection to the same place, which is not open yet.
 */
export async function requireKeptSession(
  session: pg.ClientBase,
  backend: number,
  second: () => pg.Client,
): Promise<void> {
  // The driver's types lack the number that the login told.
  const { processID } = session as pg.ClientBase & { readonly processID: number | null };
  if (processID === backend) return;
  const client = second();
  client.on('error', () => {});
  await client.connect();
  try {
    await requireOtherBackends(session, backend, client);
  } finally {
    await client.end().catch(() => {});
  }
}

async function requireOtherBackends(
  session: pg.ClientBase,
  backend: number,
  second: pg.Client,
): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    requireSameBackend(backend, backendIn(await session.query(BACKEND)));
    const begun = await second.query(`BEGIN; ${BACKEND}`).catch((error) => {
      throw NO_TRANSACTIONS.test(error.message) ? new PoolerError('statement') : error;
    });
    if (backendIn(begun) === backend) throw new PoolerError('transaction');
    await second.query('COMMIT');
  }
}

/** Returns what the last statement of a query read. */
function backendIn(results: pg.QueryResult | readonly pg.QueryResult[]): number {
  return [results].flat().at(-1)?.rows[0].backend;
}
