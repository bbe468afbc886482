/**
 * The file of `phm assess --html`. What can be known to go wrong is said before the run; the page takes
 * the place of an older one in one step after it, so that there is never half of one.
 */
import {
  accessSync,
  type BigIntStats,
  constants,
  fstatSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { writeDurably } from '../../files/durable-file.ts';
import { CommandError, unwritable } from '../command-error.ts';
import { STANDARD_INPUT } from './input.ts';

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

/**
 * Writes beside `path`, then renames. Only the owner reads the page: it shows bits of the input, which may be key
 * material. Throws `CommandError`; the old file is then as it was.
 */
export function replaceFile(path: string, text: string): void {
  try {
    writeDurably(path, text, { replace: true, mayBeLost: true });
  } catch (error) {
    throw unwritable(path, error);
  }
}
