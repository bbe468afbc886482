/** Opens the store that the configuration names. */
import { openSqliteStore } from './sqlite.ts';
import type { LedgerStore } from './store.ts';

/** Where the ledger is kept. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  /** The address may hold a password: it goes into no message. */
  | { readonly kind: 'postgres'; readonly url: string };

/**
 * Opens the store; `quotas` are monthly, by plan, null for unlimited. `warn` is told what an operator
 * should know. Throws `SetupError`.
 */
export async function openStore(
  location: StoreLocation,
  quotas: Readonly<Record<string, number | null>>,
  warn: (message: string) => void = () => {},
): Promise<LedgerStore> {
  if (location.kind === 'sqlite') return openSqliteStore({ path: location.path, quotas });
  // The driver is loaded by those who use it only.
  const { openPostgresStore } = await import('./postgres.ts');
  return openPostgresStore({ url: location.url, quotas, warn });
}
