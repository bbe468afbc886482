/** Everything that a site has stored: the bytes of its files, and the values in its database. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogSite } from './log-site.ts';

/** Returns the files of the service and of the database, with its write-ahead log. */
export async function storedFiles(site: LogSite): Promise<Buffer> {
  const folders = [site.folder];
  if (site.kind === 'postgres') {
    const [row] = await site.execute('SHOW data_directory');
    folders.push(String(row?.data_directory));
  }
  return Buffer.concat(folders.flatMap(filesBelow));
}

/** Returns all values of all tables. PostgreSQL compresses long ones in its files. */
export async function storedValues(site: LogSite): Promise<Buffer> {
  const names =
    site.kind === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'table'"
      : "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace";
  const tables = await site.execute(names);
  const values: Buffer[] = [];
  for (const { name } of tables) {
    values.push(valuesOf(await site.execute(`SELECT * FROM "${name}"`)));
  }
  return Buffer.concat(values);
}

/** Returns the contents of all files below a folder. */
export function filesBelow(folder: string): Buffer[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name)));
}

/** Returns the values of all rows, one a line. */
function valuesOf(rows: readonly Record<string, unknown>[]): Buffer {
  const values = rows.flatMap((row) => Object.values(row));
  return Buffer.concat(values.flatMap((value) => [bytesOf(value), Buffer.from('\n')]));
}

function bytesOf(value: unknown): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value);
  return Buffer.from(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
