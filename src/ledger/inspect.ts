/** Reads what a database is and how it is set up, on every schema. Changes nothing. */
import type { Inspection } from './inspection.ts';
import type { StoreLocation } from './location.ts';

/** Inspects the database; null if there is no embedded one yet. Throws `SetupError` if it cannot be used. */
export async function inspectDatabase(location: StoreLocation): Promise<Inspection | null> {
  if (location.kind === 'sqlite') {
    const { inspectSqlite } = await import('./sqlite/inspect.ts');
    return inspectSqlite(location.path);
  }
  const { inspectPostgres } = await import('./postgres/inspect.ts');
  return inspectPostgres(location.url, location);
}
