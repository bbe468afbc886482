/** Makes file names survive loss of power. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Syncs a directory, which makes the names in it durable. Windows has no such operation. */
export function syncDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
