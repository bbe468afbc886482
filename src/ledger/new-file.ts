/** A file that is there whole or not at all, and takes no other file's place. */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, linkSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { SetupError } from '../errors.ts';
import { syncDirectory, syncFile } from '../files/sync.ts';

/**
 * Has `write` fill a file under a temporary name, mode 0600, syncs it and puts it in place. When anything
 * fails nothing is left. Throws `SetupError` when there is a file already or none can be made.
 */
export async function writeNewFile<T>(
  path: string,
  write: (temporary: string) => Promise<T>,
): Promise<T> {
  if (existsSync(path)) throw exists(path);
  const temporary = `${path}.${randomUUID()}.new`;
  try {
    closeSync(openSync(temporary, 'wx', 0o600));
    const result = await write(temporary);
    syncFile(temporary);
    linkSync(temporary, path);
    rmSync(temporary);
    syncDirectory(dirname(path));
    return result;
  } catch (error) {
    throw fileError(path, error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  ENOTDIR: 'there is no such directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied, or a file system without hard links',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left',
  EDQUOT: 'no space left',
};

function fileError(path: string, error: unknown): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  if (code === 'EEXIST') return exists(path);
  return new SetupError(`cannot write ${path}: ${REASONS[code ?? ''] ?? message}`);
}

function exists(path: string): SetupError {
  return new SetupError(
    `${path} exists, and is never replaced: move it away, or name another file`,
  );
}
