/**
 * The ID of a data directory: random, written by the first server that starts on it. A server sends it with
 * `/livez`. The command line compares it with its own directory's, without any path, to see whether the
 * server on this machine uses the same one.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The header of `/livez` that carries the ID. */
export const DIRECTORY_ID_HEADER = 'x-data-directory-id';

/** The file that holds the ID. */
const DIRECTORY_ID_FILE = 'directory.id';

const FORM = /^[0-9a-f]{32}$/;

/** Returns a fresh ID, for a new directory or for a server without one. */
export function newDirectoryId(): string {
  return randomBytes(16).toString('hex');
}

/** Returns the ID of a data directory, or null if no server has started on it or the ID cannot be read. */
export function readDirectoryId(dataDir: string): string | null {
  try {
    const text = readFileSync(join(dataDir, DIRECTORY_ID_FILE), 'latin1').trim();
    return FORM.test(text) ? text : null;
  } catch {
    return null;
  }
}

/**
 * Returns the ID of a data directory and writes one if it is missing. The ID only serves hints, so failures
 * are ignored.
 */
export function loadDirectoryId(dataDir: string): string {
  const id = newDirectoryId();
  try {
    writeFileSync(join(dataDir, DIRECTORY_ID_FILE), `${id}\n`, { flag: 'wx', mode: 0o600 });
    return id;
  } catch {
    return readDirectoryId(dataDir) ?? id;
  }
}
