/** Opens the store that the configuration names. */
import type { StoreLocation } from './location.ts';
import type { SchemaChange } from './migrations.ts';
import type { Quotas } from './quota-decision.ts';
import { migrateDatabase, refuseOlderSchema } from './sqlite/schema.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { LedgerStore } from './store.ts';

/**
 * Opens the store. `quotas` are monthly, by plan; null is unlimited. `warn` receives warnings for the
 * operator, `onMove` the host of PostgreSQL that is used from then on, after a promotion. SQLite is migrated on opening; PostgreSQL with another schema is refused. Throws `SetupError`.
 */
export async function openStore(
  location: StoreLocation,
  quotas: Quotas,
  warn: (message: string) => void = () => {},
  onMove: (host: string) => void = () => {},
): Promise<LedgerStore> {
  if (location.kind === 'sqlite') {
    const { path, gate, ledger } = location;
    return openSqliteStore({
      path,
      quotas,
      warn,
      ...(gate && { gate }),
      ...(ledger && { ledger }),
    });
  }
  // Loads the driver only if PostgreSQL is used.
  const { openPostgresStore } = await import('./postgres/store.ts');
  const { kind: _, ...place } = location;
  return openPostgresStore({ ...place, quotas, warn, onMove });
}

/**
 * Opens the store for a command that changes it, and creates it if it is missing. Refuses the schema of an
 * earlier release: its servers may be running and could not start again after a migration. A command commits no
 * requests, so it needs no quotas. Throws `SetupError`.
 */
export async function openStoreToChange(location: StoreLocation): Promise<LedgerStore> {
  if (location.kind === 'sqlite') refuseOlderSchema(location.path);
  return openStore(location, {});
}

/**
 * Opens the store for a command that only reads. Creates nothing and changes no schema. Throws `SetupError`, also if
 * there is no store.
 */
export async function openStoreToRead(location: StoreLocation): Promise<LedgerStore> {
  if (location.kind === 'postgres') return openStore(location, {});
  return openSqliteStore({ path: location.path, quotas: {}, readOnly: true });
}

/** Migrates the schema of the store. Throws `SetupError`. */
export async function migrateStore(location: StoreLocation): Promise<SchemaChange> {
  if (location.kind === 'sqlite') return migrateDatabase(location.path);
  const { migratePostgres } = await import('./postgres/store.ts');
  return migratePostgres(location.url, undefined, location);
}
