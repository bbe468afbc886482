/** What a damaged database is told by, and what an operator does about it. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SetupError } from '../errors.ts';
import { isLocked } from './may-pass.ts';

/** SQLITE_CORRUPT and SQLITE_NOTADB. The low byte is the code, the others refine it. */
const DAMAGE_CODES = [11, 26];

const NOT_A_DATABASE = 26;

/** What SQLite keeps beside a database, and would apply to any file of that name. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const;

/** Whether SQLite has found the file damaged, or to be no database. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && DAMAGE_CODES.includes(code);
}

/** The way back from a damaged file. Commands that print it end the line with the command. */
function wayBack(path: string): string {
  const name = basename(path);
  return (
    `The way back: stop every server on ${dirname(path)}, move ${name} and the files beside it (${name}-wal, ` +
    `${name}-shm) away together and keep them, then put the latest backup in their place ` +
    '(docs/operations.md, "A damaged database"): phm ledger restore FILE'
  );
}

/** A damaged database, with what was found in one line. */
export function damagedDatabase(path: string, found: string): SetupError {
  return new SetupError(`the database ${path} is damaged: ${found}. ${wayBack(path)}`);
}

/** A failure to open the database, with the remedy that fits the cause; `remedy` is for all other causes. */
export function openingFailure(
  path: string,
  cause: unknown,
  { verb, remedy }: { verb: 'open' | 'read'; remedy: string },
): SetupError {
  const { message } = cause as Error;
  if (codeOf(cause) === NOT_A_DATABASE) {
    return new SetupError(
      `cannot ${verb} the database ${path}: ${message}, but something else, or its first page is damaged. ` +
        wayBack(path),
      { cause },
    );
  }
  if (isDamage(cause)) return damagedDatabase(path, message);
  return new SetupError(`cannot ${verb} the database ${path}: ${message}; ${remedy}`, {
    cause,
    mayPass: isLocked(cause),
  });
}

/**
 * Throws `SetupError` that names the file which this user cannot write: the database, what lies beside it, or their
 * directory. SQLite would name none of them, and would give new files the mode of a read-only database.
 */
export function requireWritable(path: string): void {
  if (!isWritable(dirname(path))) {
    throw new SetupError(
      `cannot open the database ${path}: the directory ${dirname(path)} is read-only for this user; check that ` +
        'PHM_DATA_DIR names a directory this user can write to, and run this as the user of the server',
    );
  }
  for (const file of [path, ...SIDE_FILES.map((side) => path + side)]) {
    if (!existsSync(file) || isWritable(file)) continue;
    const beside =
      file === path
        ? ''
        : ` A start while ${basename(path)} was read-only leaves such a file. If no server runs on this directory, ` +
          'make it writable.';
    throw new SetupError(
      `cannot open the database ${path}: ${file} is read-only for this user. Give it mode 0600 and the user of the ` +
        `server as its owner, and run this as the user of the server.${beside}`,
    );
  }
}

/** What the first server that starts on a directory leaves there, and its master secret. */
const DIRECTORY_ID = 'directory.id';
const MASTER_SECRET = 'master.key';

const EMPTY_PAUSE_MS = 50;
const EMPTY_LOOKS = 10;

/**
 * Throws `SetupError` when the database is gone from a directory that a server has worked with, or is an empty file
 * beside a master secret. SQLite would make a new ledger there, without accounts, counters and keys. A directory that
 * has a master secret and no database file is new: operators put the secret there before the first start.
 */
export function refuseLostDatabase(path: string): void {
  const trace = [DIRECTORY_ID, MASTER_SECRET]
    .map((name) => join(dirname(path), name))
    .find((file) => existsSync(file));
  if (trace === undefined) return;
  if (!existsSync(path)) {
    if (basename(trace) !== DIRECTORY_ID) return;
    throw new SetupError(
      `there is no database ${path}, and ${trace} shows that a server has started on this directory before. ` +
        `No new one is made in its place. ${NEW_LEDGER.replace('{file}', trace)}${wayBack(path)}`,
    );
  }
  if (!staysEmpty(path)) return;
  throw new SetupError(
    `the database ${path} is empty, and ${trace} shows that this directory is in use. It is not taken for a new ` +
      `one. ${NEW_LEDGER.replace('{file}', `${path} and ${join(dirname(path), DIRECTORY_ID)}`)}${wayBack(path)}`,
  );
}

const NEW_LEDGER =
  'To begin with an empty ledger, which knows no account and no key, remove {file}. ';

/** Another process that makes the database in this moment has it empty for some milliseconds. */
function staysEmpty(path: string): boolean {
  for (let look = 0; statSync(path, { throwIfNoEntry: false })?.size === 0; look++) {
    if (look === EMPTY_LOOKS) return true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EMPTY_PAUSE_MS);
  }
  return false;
}

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function codeOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}
