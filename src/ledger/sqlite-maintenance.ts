/** The upkeep of the embedded ledger: rows and sums that are out of date go, a few at a time. */
import { setTimeout as delay } from 'node:timers/promises';
import { firstMinuteKept } from './rollup.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { PruneOrder, PruneReport } from './store.ts';
import { unavailable } from './unavailable.ts';

/** Rows of one transaction, which holds the only write lock. */
const CHUNK = 500;

/** Least pause between two transactions. Whoever waits for the lock tries again after some milliseconds. */
const MIN_PAUSE_MS = 20;

const ROWS = 'FROM ledger WHERE key_id < ?';

// Account by account, because these primary keys are by account first.
const MINUTES = `FROM accounts CROSS JOIN rollup_minute AS old
  WHERE old.account_id = accounts.account_id AND old.period < ?`;

const P_VALUES = `FROM accounts CROSS JOIN validated_keys AS old
  WHERE old.account_id = accounts.account_id AND old.key_id < ?`;

/** Removes what is out of date; between two pieces others may write as long as it has. */
export async function pruneSqlite(
  connection: SqliteConnection,
  { beforeMs, nowMs, dryRun, signal }: PruneOrder,
): Promise<PruneReport> {
  const bound = Buffer.alloc(6);
  bound.writeUIntBE(Math.max(0, beforeMs), 0, 6);
  const firstMinute = firstMinuteKept(nowMs);
  if (dryRun) {
    return connection.guarded(() => ({
      rows: Number(connection.get(`SELECT count(*) AS n ${ROWS}`, bound)?.n),
      minuteSums: Number(connection.get(`SELECT count(*) AS n ${MINUTES}`, firstMinute)?.n),
      partitions: [],
    }));
  }
  const rows = await inChunks(connection, signal, () =>
    connection.run(
      `DELETE FROM ledger WHERE key_id IN (SELECT key_id ${ROWS} ORDER BY key_id LIMIT ${CHUNK})`,
      bound,
    ),
  );
  await inChunks(connection, signal, () =>
    connection.run(
      `DELETE FROM validated_keys WHERE (account_id, key_id) IN
         (SELECT old.account_id, old.key_id ${P_VALUES} LIMIT ${CHUNK})`,
      bound,
    ),
  );
  const minuteSums = await inChunks(connection, signal, () =>
    connection.run(
      `DELETE FROM rollup_minute WHERE (account_id, period) IN
         (SELECT old.account_id, old.period ${MINUTES} LIMIT ${CHUNK})`,
      firstMinute,
    ),
  );
  return { rows, minuteSums, partitions: [] };
}

/** Repeats a removal, each time a transaction of its own, until it finds less than a full chunk. */
async function inChunks(
  connection: SqliteConnection,
  signal: AbortSignal | undefined,
  remove: () => number,
): Promise<number> {
  let removed = 0;
  for (;;) {
    if (signal?.aborted) return removed;
    const began = performance.now();
    const count = inTransaction(connection, remove);
    removed += count;
    if (count < CHUNK) return removed;
    await delay(Math.max(MIN_PAUSE_MS, performance.now() - began));
  }
}

function inTransaction(connection: SqliteConnection, remove: () => number): number {
  try {
    connection.begin();
    const count = remove();
    connection.commit();
    return count;
  } catch (error) {
    connection.rollBack();
    throw unavailable(error);
  }
}
