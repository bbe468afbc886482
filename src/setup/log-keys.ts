/** Reads and creates the signing keys of the transparency log. */

import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { plainText, readFailure, readTextFile, writeDurably, writeFailure } from '#platform/files';
import { FormatError } from '#tlog';
import type { LogKeyOrigin } from '../config/index.ts';
import { SetupError } from '../errors.ts';
import { makeDirectory } from '../files/make-directory.ts';
import { requireOwnFile } from '../files/own-file.ts';
import { type LogKeys, newLogKeysText, newOrigin, parseLogKeys } from '../log/index.ts';

/** Reads the log's keys; null if the managed file does not exist. Throws `SetupError`. */
export function readLogKeys(origin: LogKeyOrigin): LogKeys | null {
  if (origin.kind === 'managed' && !existsSync(origin.path)) return null;
  if (origin.kind !== 'environment') requireOwnFile(origin.path);
  const name = origin.kind === 'environment' ? 'PHM_LOG_KEY' : origin.path;
  try {
    return parseLogKeys(
      origin.kind === 'environment' ? plainText(origin.text) : readTextFile(origin.path),
    );
  } catch (error) {
    // The message of a `FormatError` quotes no key.
    const reason = error instanceof FormatError ? error.message : readFailure(error);
    throw new SetupError(`cannot use the keys of the log in ${name}: ${reason}; ${remedy(error)}`);
  }
}

function remedy(error: unknown): string {
  if (error instanceof FormatError) {
    return 'restore them from a backup, or move the file away and rotate the log: phm log init --rotate';
  }
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return 'copy the file from another server or a backup, or generate it once for all servers: phm log init';
  }
  return code === 'EACCES' || code === 'EPERM'
    ? 'the user of the server must be able to read it, and run this'
    : 'restore the file from its backup';
}

/**
 * Generates the keys of a new log and writes them to a file with mode 0600. Throws `SetupError` if the file exists,
 * unless `replace` is set.
 */
export function createLogKeys(
  path: string,
  origin: string = newOrigin(),
  { replace }: { readonly replace: boolean } = { replace: false },
): LogKeys {
  const text = newLogKeysText(origin);
  try {
    makeDirectory(dirname(path));
    // Keeps a symbolic link and replaces the file that it names.
    const target = replace && existsSync(path) ? realpathSync(path) : path;
    writeDurably(target, text, { replace });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new SetupError(`${path} exists: it holds the keys of a log, which nothing can replace`);
    }
    throw new SetupError(`cannot write ${path}: ${writeFailure(cause)}`, { cause });
  }
  return parseLogKeys(text);
}
