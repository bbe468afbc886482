/** Makes a file, and the name it was given, survive a loss of power. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** What some file systems answer that cannot sync a directory, and the answer where this user may not read it. */
const CANNOT_SYNC = ['EINVAL', 'ENOTSUP', 'EACCES'];

export function syncFile(path: string): void {
  sync(path, 'r+');
}

/** Makes names in a directory durable, where the system can. Windows has no such operation. */
export function syncDirectory(path: string): void {
  if (process.platform === 'win32') return;
  try {
    sync(path, 'r');
  } catch (error) {
    if (!CANNOT_SYNC.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function sync(path: string, flags: string): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
