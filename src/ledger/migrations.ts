/** The numbered changes of a schema: one file each, never changed once released. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  readonly version: number;
  readonly sql: string;
}

/** The migrations of one kind of store, oldest first. */
export function readMigrations(store: 'postgres' | 'sqlite'): Migration[] {
  const folder = new URL(`./migrations/${store}/`, import.meta.url);
  return readdirSync(folder)
    .filter((file) => /^\d{4}-.+\.sql$/.test(file))
    .sort()
    .map((file) => ({
      version: Number(file.slice(0, 4)),
      sql: readFileSync(new URL(file, folder), 'utf8'),
    }));
}
