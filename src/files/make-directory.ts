/** Creates a directory and its missing parents. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory and its missing parents, each with mode 0700. An existing directory is unchanged.
 * Throws the error of the file system.
 *
 * Node's recursive `mkdirSync` never returns if the system answers ENOENT below an existing parent, as in
 * `/proc`.
 */
export function makeDirectory(path: string): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
