/** Checks the files of the embedded database before SQLite opens them. */

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { quote } from '#platform/terminal';
import { SetupError } from '../../errors.ts';
import { dataDirectoryProblem, requireOwnFile } from '../../files/own-file.ts';
import { SIDE_FILES, wayBack } from './damage.ts';

/** The files that the first server on a directory leaves there: its ID and its master secret. */
const DIRECTORY_ID = 'directory.id';
const MASTER_SECRET = 'master.key';

const EMPTY_PAUSE_MS = 50;
const EMPTY_LOOKS = 10;

/**
 * Throws `SetupError` if the database is missing from a directory that a server has used, or is empty or
 * without a schema beside a master secret. SQLite would create a new ledger there, without accounts,
 * counters and keys. A directory with a master secret and no database file is new: operators put the secret
 * there before the first start.
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
        `It is not replaced by a new one. ${wayBack(path)}`,
      { otherwise: beginAnew([trace]) },
    );
  }
  if (!staysUnmade(path)) return;
  const state = statSync(path).size === 0 ? 'is empty' : 'holds no ledger';
  throw new SetupError(
    `the database ${path} ${state}, and ${trace} shows that this directory is in use. It is not treated as a new ` +
      `one. ${wayBack(path)}`,
    { otherwise: beginAnew([path, join(dirname(path), DIRECTORY_ID)]) },
  );
}

function beginAnew(files: readonly string[]): string {
  const names = files.map(quote).join(' and ');
  return `To start with an empty ledger instead, without accounts and keys, remove ${names}`;
}

/**
 * Rechecks for a while, because a database that another process is creating has no schema for a few
 * milliseconds.
 */
function staysUnmade(path: string): boolean {
  for (let look = 0; isUnmade(path); look++) {
    if (look === EMPTY_LOOKS) return true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EMPTY_PAUSE_MS);
  }
  return false;
}

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const USER_VERSION_AT = 60;

/**
 * Returns true for an empty file, and for a database without a schema of this service. SQLite must read it,
 * because the schema may be in the log.
 */
function isUnmade(path: string): boolean {
  const stats = look(path);
  if (!stats?.isFile()) return false;
  if (stats.size === 0) return true;
  if (look(`${path}-wal`)?.size || !can(path, constants.R_OK)) return false;
  const header = readHeader(path);
  return (
    header.toString('latin1', 0, MAGIC.length) === MAGIC &&
    header.readUInt32BE(USER_VERSION_AT) === 0
  );
}

function readHeader(path: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
    return header;
  } finally {
    closeSync(file);
  }
}

/**
 * Throws a `SetupError` that names what this user cannot write: the database, the files beside it, or their
 * directory. SQLite would name none of them, and would give new files the mode of a read-only database.
 */
export function requireWritable(path: string): void {
  requireFile(path);
  if (!can(dirname(path), constants.W_OK)) {
    throw new SetupError(
      `cannot open the database ${path}: the directory ${dirname(path)} is read-only for this user; check that ` +
        'PHM_DATA_DIR names a directory this user can write to, and run this as the user of the server',
    );
  }
  requireRights(path, constants.R_OK | constants.W_OK);
}

/** Throws a `SetupError` that names the files of the database that this user cannot read. */
export function requireReadable(path: string): void {
  requireFile(path);
  // If the log has no index, SQLite creates one with the mode of the database.
  if (existsSync(`${path}-wal`) && !existsSync(`${path}-shm`)) requireWritable(path);
  else requireRights(path, constants.R_OK);
}

function requireFile(path: string): void {
  if (look(path)?.isDirectory()) {
    throw new SetupError(
      `cannot open the database ${path}: it is a directory. Check PHM_DATA_DIR first. ${wayBack(path)}`,
    );
  }
  // The database of another user has that user's accounts, and perhaps a master secret that others know.
  const problem = dataDirectoryProblem(dirname(path));
  if (problem !== null) throw new SetupError(problem);
  for (const side of ['', ...SIDE_FILES]) {
    requireOwnFile(path + side);
    requireRegular(path + side);
  }
}

/** Throws for a named pipe or a device, which SQLite would wait for in the main thread. */
function requireRegular(file: string): void {
  const stats = look(file);
  if (stats === undefined || stats.isFile() || stats.isDirectory()) return;
  throw new SetupError(
    `cannot open ${file}: it is not a regular file. Check PHM_DATA_DIR first, and who put it there`,
  );
}

function requireRights(path: string, rights: number): void {
  const files = [path, ...SIDE_FILES.map((side) => path + side)];
  const refused = files.filter((file) => existsSync(file) && !can(file, rights));
  if (refused.length === 0) return;
  const unreadable = refused.some((file) => !can(file, constants.R_OK));
  const verb = refused.length === 1 ? 'is' : 'are';
  const problem = unreadable ? 'not readable by this user' : 'read-only for this user';
  const beside = refused.some((file) => file !== path)
    ? `A command of an earlier release leaves such files beside a read-only ${basename(path)}. `
    : '';
  throw new SetupError(
    `cannot open the database ${path}: ${refused.join(' and ')} ${verb} ${problem}. ${beside}Run this as the ` +
      `user of the server, who must own the files. If that user owns them, run chmod 600 ${refused.map(quote).join(' ')}`,
  );
}

function look(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function can(file: string, rights: number): boolean {
  try {
    accessSync(file, rights);
    return true;
  } catch {
    return false;
  }
}
