/** Opens the store of a move: each kind is loaded only when it is used. */
import type { StoreLocation } from '../location.ts';
import type { MovableStore } from './movable-store.ts';

/** The store for a move; its schema is up to date already. */
export async function openMovableStore(location: StoreLocation): Promise<MovableStore> {
  if (location.kind === 'sqlite') {
    const { MovableSqlite } = await import('./sqlite.ts');
    return new MovableSqlite(location.path);
  }
  const { MovablePostgres } = await import('./postgres.ts');
  return new MovablePostgres(location.url);
}
