/** Makes names survive a loss of power. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes names in a directory durable. Windows has no such operation. */
export function syncDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
