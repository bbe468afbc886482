/**
 * The id of a data directory: random, made by the first server that starts on it. A server tells its id to
 * those who ask on `/livez`, so that the command line learns, without any path, whether the server on this
 * machine works with the same directory.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The header of `/livez` that carries the id. */
export const DIRECTORY_ID_HEADER = 'x-data-directory-id';

/** The file that holds the id. */
export const DIRECTORY_ID_FILE = 'directory.id';

const FORM = /^[0-9a-f]{32}$/;

/** An id that no directory has: that of a server without one. */
export function newDirectoryId(): string {
  return randomBytes(16).toString('hex');
}

/** The id of a data directory, or null if no server has started on it or it cannot be read. */
export function readDirectoryId(dataDir: string): string | null {
  try {
    const text = readFileSync(join(dataDir, DIRECTORY_ID_FILE), 'latin1').trim();
    return FORM.test(text) ? text : null;
  } catch {
    return null;
  }
}

/** The id of a data directory, which gets one if it has none. The id only serves hints: no failure is one. */
export function loadDirectoryId(dataDir: string): string {
  const id = newDirectoryId();
  try {
    writeFileSync(join(dataDir, DIRECTORY_ID_FILE), `${id}\n`, { flag: 'wx', mode: 0o600 });
    return id;
  } catch {
    return readDirectoryId(dataDir) ?? id;
  }
}
