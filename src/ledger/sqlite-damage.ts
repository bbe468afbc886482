/** What a damaged database is told by, and what an operator does about it. */
import { basename, dirname } from 'node:path';
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

/** The way back to a sound file. It ends its line, so that the command is shown as this user starts it. */
export function wayBack(path: string): string {
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

function codeOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}
