/** The size of a SQLite ledger, which needs no connection to it. */
import { stat } from 'node:fs/promises';

/** Resolves with the bytes of the database and its write-ahead log, without the map of that log (`-shm`). */
export async function sqliteBytes(path: string): Promise<number> {
  const [database, log] = await Promise.all([stat(path), stat(`${path}-wal`).catch(ifMissing)]);
  return database.size + (log?.size ?? 0);
}

/** The last connection to close removes the log. */
function ifMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
