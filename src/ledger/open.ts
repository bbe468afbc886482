/** Opens the store that the configuration names. */
import type { StoreLocation } from './location.ts';
import type { SchemaChange } from './migrations.ts';
import type { Quotas } from './quota-decision.ts';
import { migrateDatabase, refuseOlderSchema } from './sqlite/schema.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { LedgerStore } from './store.ts';

/**
 * Opens the store; `quotas` are monthly, by plan, null for unlimited. `warn` is told what an operator
 * should know. SQLite brings its schema up to date by itself; on PostgreSQL one that is not is refused.
 * Throws `SetupError`.
 */
export async function openStore(
  location: StoreLocation,
  quotas: Quotas,
  warn: (message: string) => void = () => {},
): Promise<LedgerStore> {
  if (location.kind === 'sqlite') return openSqliteStore({ path: location.path, quotas, warn });
  // The driver is loaded by those who use it only.
  const { openPostgresStore } = await import('./postgres/store.ts');
  const { url, maxClockSkewMs } = location;
  return openPostgresStore({ url, quotas, warn, ...(maxClockSkewMs && { maxClockSkewMs }) });
}

/**
 * Opens the store for a command that changes it, or makes it where there is none. Refuses the schema of an earlier
 * release: servers of that release may be running, and could not start again. `quotas` are as for `openStore`.
 * Throws `SetupError`.
 */
export async function openStoreToChange(
  location: StoreLocation,
  quotas: Quotas,
): Promise<LedgerStore> {
  if (location.kind === 'sqlite') refuseOlderSchema(location.path);
  return openStore(location, quotas);
}

/**
 * Opens the store for a command that only reads: nothing is made, and no schema is changed. `quotas` are as
 * for `openStore`. Throws `SetupError`, also when there is no store.
 */
export async function openStoreToRead(
  location: StoreLocation,
  quotas: Quotas,
): Promise<LedgerStore> {
  if (location.kind === 'postgres') return openStore(location, quotas);
  return openSqliteStore({ path: location.path, quotas, readOnly: true });
}

/** Brings the schema of the store up to date. Throws `SetupError`. */
export async function migrateStore(location: StoreLocation): Promise<SchemaChange> {
  if (location.kind === 'sqlite') return migrateDatabase(location.path);
  const { migratePostgres } = await import('./postgres/store.ts');
  return migratePostgres(location.url);
}
