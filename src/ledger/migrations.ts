/** The numbered changes of a schema: one file each, never changed once released. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  readonly version: number;
  readonly sql: string;
}

/** The versions of a schema before and after its migration; equal when there was nothing to do. */
export interface SchemaChange {
  readonly from: number;
  readonly to: number;
}

/** The version that a list of migrations leads to. */
export function newestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
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
