/** Opens the store of a move. Each kind of store is loaded only if it is used. */
import type { StoreLocation } from '../location.ts';
import type { MovableStore } from './movable-store.ts';

/** Opens the store for a move. Its schema must be up to date. */
export async function openMovableStore(location: StoreLocation): Promise<MovableStore> {
  if (location.kind === 'sqlite') {
    const { MovableSqlite } = await import('./sqlite.ts');
    return new MovableSqlite(location.path);
  }
  const { MovablePostgres } = await import('./postgres.ts');
  return new MovablePostgres(location.url, location);
}
