/**
 * Files that a command writes for people, such as that of `phm assess --html`. Foreseeable problems are reported before the run. After the run the page
 * replaces an older one in one step, so that no incomplete page is ever visible.
 */

import {
  accessSync,
  type BigIntStats,
  constants,
  fstatSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  CommandError,
  refuseForeignLink,
  unwritable,
} from '../../../platform/src/commands/index.ts';
import { writeDurably } from '../../../platform/src/files/index.ts';
import { STANDARD_INPUT } from './input-name.ts';

const STDIN = 0;
const STDOUT = 1;

/**
 * Returns the path for `replaceFile`, with links resolved. Throws `CommandError` if `path` cannot be written,
 * is not a regular file, or is the input or the target of standard output.
 */
export function claimPagePath(path: string, input: string, option = '--html'): string {
  if (path === '-') {
    throw new CommandError(
      `${option} needs the name of a file, because standard output has the report`,
      2,
    );
  }
  return claimFile(path, option, (existing) => assertNotInUse(path, existing, input, option));
}

/**
 * Returns the path for `replaceFile`, with links resolved. Throws `CommandError` if `path` cannot be written or is not a
 * regular file, and what `assertUnused` throws of a file that exists.
 */
export function claimFile(
  path: string,
  option: string,
  assertUnused: (existing: BigIntStats) => void = () => {},
): string {
  if (basename(path) === '' || path.endsWith('/') || path === '-') {
    throw new CommandError(`${option} needs the name of a file, got "${path}"`, 2);
  }
  refuseForeignLink(path);
  try {
    const existing = statOf(path);
    if (existing) {
      assertRegular(path, existing);
      assertUnused(existing);
    }
    const target = existing ? realpathSync(path) : path;
    // The slash causes an error if the parent is a file.
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

/** A rename would replace even a device. */
function assertRegular(path: string, existing: BigIntStats): void {
  if (existing.isFile()) return;
  const kind = existing.isDirectory() ? 'a directory' : 'not a regular file';
  throw new CommandError(`${path} cannot be written: it is ${kind}`, 1);
}

function assertNotInUse(path: string, existing: BigIntStats, input: string, option: string): void {
  const read = input === STANDARD_INPUT ? fstatSync(STDIN, { bigint: true }) : statOf(input);
  if (read && isSameFile(existing, read)) {
    throw new CommandError(`${option} ${path} would replace the input; name another file`, 2);
  }
  if (isSameFile(existing, fstatSync(STDOUT, { bigint: true }))) {
    throw new CommandError(
      `${option} ${path} would replace the report on standard output; name another file`,
      2,
    );
  }
}

/** Reports whether two paths that were claimed name one file, which need not exist. */
export function isSamePath(one: string, other: string): boolean {
  const [first, second] = [statOf(one), statOf(other)];
  if (first && second) return isSameFile(first, second);
  return !first && !second && resolved(one) === resolved(other);
}

function resolved(path: string): string {
  return join(realpathSync(dirname(path)), basename(path));
}

function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/**
 * Writes a file beside `path`, then renames it. By default only the owner can read it, because a page of `--html` shows
 * bits of the input, which may be key material. Throws `CommandError` and leaves an old file unchanged.
 */
export function replaceFile(path: string, text: string, mode?: number): void {
  try {
    const permissions = mode === undefined ? {} : { mode };
    writeDurably(path, text, { replace: true, mayBeLost: true, ...permissions });
  } catch (error) {
    throw unwritable(path, error);
  }
}
