/**
 * The index of the ledger by account. Months that are older than the index get their part beside commits, one at a time: a
 * migration could not build it without stopping them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isConflict, isLockTimeout, type PostgresConnection, type Run } from './connection.ts';

/** The index of the whole ledger. It is valid once every month has its part, and stays so. */
const INDEX = 'ledger_account';

/** The advisory lock of the server that builds: "phm indx" in ASCII. */
const BUILD_LOCK = 8_099_843_915_800_142_968n;

/** Attempts at the lock that attaches a part. Reads and commits queue behind it. */
const MAX_ATTEMPTS = 5;
const ATTACH_LIMIT_MS = 500;
const PAUSE_MS = 2_000;

const IS_VALID = `SELECT FROM pg_index WHERE indexrelid = to_regclass('${INDEX}') AND indisvalid`;

/** Selects months without a part of the index, newest first. */
const MISSING = `SELECT relname AS month FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
  WHERE inhparent = 'ledger'::regclass AND NOT EXISTS (
    SELECT FROM pg_index JOIN pg_inherits AS parts ON parts.inhrelid = indexrelid
    WHERE indrelid = pg_class.oid AND parts.inhparent = '${INDEX}'::regclass)
  ORDER BY relname DESC`;

/** Returns true if every month has its part of the index. */
export async function hasAccountIndex(connection: PostgresConnection): Promise<boolean> {
  return (await connection.get(IS_VALID)) !== undefined;
}

/**
 * Builds the missing parts of the index. Does nothing while another server does. Reads and commits go on; a long
 * transaction delays it. `connection` has no limit on the time of a statement.
 */
export async function completeAccountIndex(
  connection: PostgresConnection,
  signal?: AbortSignal,
): Promise<void> {
  if (await hasAccountIndex(connection)) return;
  await connection.session(async (run) => {
    const { rows } = await run(`SELECT pg_try_advisory_lock(${BUILD_LOCK}) AS locked`);
    if (rows[0]?.locked !== true) return;
    try {
      const missing = await run(MISSING);
      for (const { month } of missing.rows) {
        if (signal?.aborted) return;
        await buildPart(run, String(month));
      }
    } finally {
      await run(`SELECT pg_advisory_unlock(${BUILD_LOCK})`);
    }
  });
}

async function buildPart(run: Run, month: string): Promise<void> {
  const part = `${month}_account`;
  // It waits for every transaction that began before it, and none waits for it.
  await run('SET lock_timeout = 0');
  // An attempt that was cut short leaves a part that is not valid.
  const { rows } = await run(
    `SELECT FROM pg_index WHERE indexrelid = to_regclass('${part}') AND NOT indisvalid`,
  );
  if (rows.length > 0) await run(`DROP INDEX CONCURRENTLY ${part}`);
  await run(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${part} ON ${month} (account_id, key_id)`);
  await run(`SET lock_timeout = ${ATTACH_LIMIT_MS}`);
  await attach(run, part);
}

async function attach(run: Run, part: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run(`ALTER INDEX ${INDEX} ATTACH PARTITION ${part}`);
      return;
    } catch (error) {
      if ((!isLockTimeout(error) && !isConflict(error)) || attempt === MAX_ATTEMPTS) throw error;
      await delay(PAUSE_MS);
    }
  }
}
