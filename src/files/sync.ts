/** Makes a file, and the name it was given, survive a loss of power. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

export function syncFile(path: string): void {
  sync(path, 'r+');
}

/** Makes names in a directory durable. Windows has no such operation. */
export function syncDirectory(path: string): void {
  if (process.platform !== 'win32') sync(path, 'r');
}

function sync(path: string, flags: string): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
