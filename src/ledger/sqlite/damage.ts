/** What a damaged database is told by, and what an operator does about it. */
import { basename, dirname } from 'node:path';
import { SetupError } from '../../errors.ts';
import { isLocked } from '../may-pass.ts';

/** SQLITE_CORRUPT and SQLITE_NOTADB. The low byte is the code, the others refine it. */
const DAMAGE_CODES = [11, 26];

const NOT_A_DATABASE = 26;
const READONLY = 8;

/** What SQLite keeps beside a database, and would apply to any file of that name. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const;

/** Whether SQLite has found the file damaged, or to be no database. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && DAMAGE_CODES.includes(code);
}

/** The way back to a sound file. It ends its line, so that the command is shown as this user starts it. */
export function wayBack(path: string): string {
  const name = basename(path);
  return (
    `The way back: stop every server on ${dirname(path)}, move ${name} and the files beside it (${name}-wal, ` +
    `${name}-shm) away together and keep them, then put the latest backup in their place ` +
    '(docs/incidents.md, "A damaged database"): phm ledger restore FILE'
  );
}

/** A damaged database, with what was found in one line. */
export function damagedDatabase(path: string, found: string): SetupError {
  return new SetupError(`the database ${path} is damaged: ${found}. ${wayBack(path)}`);
}

/** A file that holds no backup, or a damaged one. */
export function uselessBackup(path: string, found: string): SetupError {
  return new SetupError(
    `the backup ${path} cannot be used: ${found}. Nothing was restored, and the file stays as it is. Take another ` +
      'backup, and see how this one was kept',
  );
}

/** The database that a server has open was moved away or removed, or another file was put in its place. */
export function notTheOpenFile(path: string, isReplaced: boolean): Error {
  const name = basename(path);
  if (!isReplaced) {
    return new Error(
      `the database ${path} was moved away or removed. Move the same file back, and the server goes on by itself. Do ` +
        `not restart it before: it would give up the file that it still has open, and not start again. Without that file: ${wayBack(path)}`,
    );
  }
  return new Error(
    `another file has taken the place of the database ${path}. Move it away and the first one back, and the server ` +
      'goes on by itself. If the new file is the right one, stop the server, and start it only when no ' +
      `${name}-wal and ${name}-shm of the first one lie beside the new one: they would damage it`,
  );
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
  if (verb === 'read' && codeOf(cause) === READONLY) {
    return new SetupError(
      `cannot read the database ${path}: its log is read by way of ${basename(path)}-shm, which this user cannot write; ` +
        'run this as the user of the server',
      { cause },
    );
  }
  return new SetupError(`cannot ${verb} the database ${path}: ${message}; ${remedy}`, {
    cause,
    mayPass: isLocked(cause),
  });
}

function codeOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}
