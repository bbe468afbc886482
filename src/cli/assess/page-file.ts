/**
 * The file of `phm assess --html`. What can be known to go wrong is said before the run; the page takes
 * the place of an older one in one step after it, so that there is never half of one.
 */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  type BigIntStats,
  constants,
  fstatSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CommandError } from '../command-error.ts';
import { STANDARD_INPUT } from './input.ts';

/** Only its owner reads a page: it shows bits of the input, which may be key material. */
const MODE = 0o600;

const STDIN = 0;
const STDOUT = 1;

/**
 * The file to give to `replaceFile`, links followed. Throws `CommandError` when `path` cannot be written,
 * is no regular file, or is `input` or what standard output goes to.
 */
export function claimPagePath(path: string, input: string): string {
  if (path === '-') {
    throw new CommandError('--html needs a file of its own: standard output has the report', 2);
  }
  if (basename(path) === '' || path.endsWith('/')) {
    throw new CommandError(`--html takes the name of a file, got "${path}"`, 2);
  }
  try {
    const existing = statOf(path);
    if (existing) assertReplaceable(path, existing, input);
    const target = existing ? realpathSync(path) : path;
    // The slash makes it an error that this is a file.
    accessSync(`${dirname(target)}/`, constants.W_OK);
    if (existing) accessSync(target, constants.W_OK);
    return target;
  } catch (error) {
    throw error instanceof CommandError ? error : unwritable(path, error);
  }
}

function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

/** A rename would put the page in the place of a device as well. */
function assertReplaceable(path: string, existing: BigIntStats, input: string): void {
  if (!existing.isFile()) {
    const kind = existing.isDirectory() ? 'a directory' : 'no regular file';
    throw new CommandError(`${path} cannot be written: it is ${kind}`, 1);
  }
  const read = input === STANDARD_INPUT ? fstatSync(STDIN, { bigint: true }) : statOf(input);
  if (read && isSameFile(existing, read)) {
    throw new CommandError(`--html ${path} would replace the input; name another file`, 2);
  }
  if (isSameFile(existing, fstatSync(STDOUT, { bigint: true }))) {
    throw new CommandError(`--html ${path} would replace the report on standard output`, 2);
  }
}

function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** Writes beside `path`, then renames. Throws `CommandError`; the old file is then as it was. */
export function replaceFile(path: string, text: string): void {
  const temporary = join(dirname(path), `.phm-${randomBytes(8).toString('hex')}.tmp`);
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: MODE, flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw unwritable(path, error);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  ENOTDIR: 'there is no such directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left',
};

function unwritable(path: string, error: unknown): CommandError {
  const { code = String(error) } = error as NodeJS.ErrnoException;
  return new CommandError(`${path} cannot be written: ${REASONS[code] ?? code}`, 1);
}
