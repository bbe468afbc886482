/** Recognises a damaged database, and describes the remedy. */
import { basename, dirname } from 'node:path';
import { SetupError } from '../../errors.ts';
import { isLocked } from '../may-pass.ts';

/** SQLITE_CORRUPT and SQLITE_NOTADB. The low byte is the code; the others refine it. */
const DAMAGE_CODES = [11, 26];

const NOT_A_DATABASE = 26;
const READONLY = 8;

/** Suffixes of the files that SQLite keeps beside a database, and would apply to any file of that name. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const;

/** Returns true if SQLite found that the file is damaged or is no database. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && DAMAGE_CODES.includes(code);
}

/**
 * Describes how to restore a sound file. The text ends its line, so that the command can be shown the way
 * this user runs it.
 */
export function wayBack(path: string): string {
  return `To recover, ${restoreSteps(path)}`;
}

/** Returns the steps of a restore as the end of a sentence and of a line. */
function restoreSteps(path: string): string {
  const name = basename(path);
  return (
    `stop every server on ${dirname(path)}, move ${name} and the files beside it (${name}-wal, ` +
    `${name}-shm) away together and keep them, then restore the latest backup ` +
    '(docs/incidents.md, "A damaged database"): phm ledger restore FILE'
  );
}

/** Reports a damaged database. `found` is one line. */
export function damagedDatabase(path: string, found: string): SetupError {
  return new SetupError(`the database ${path} is damaged: ${found}. ${wayBack(path)}`);
}

/** Reports a file that is a damaged backup or none at all. */
export function uselessBackup(path: string, found: string): SetupError {
  return new SetupError(
    `the backup ${path} cannot be used: ${found}. Nothing was restored, and the file is unchanged. Take another ` +
      'backup, and check how this one was stored',
  );
}

/** A file of an open database is no longer at its place, so what is written now may end with the process. */
export class MovedFileError extends Error {
  override readonly name = 'MovedFileError';
  /** True if the open log is the only copy of its commits, and whole. */
  readonly holdsLog: boolean;

  constructor(message: string, { holdsLog = false } = {}) {
    super(message);
    this.holdsLog = holdsLog;
  }
}

/** Reports that a server's open database was moved away, removed or replaced. */
export function notTheOpenFile(path: string, isReplaced: boolean): MovedFileError {
  const name = basename(path);
  if (!isReplaced) {
    return new MovedFileError(
      `the database ${path} was moved away or removed. Move the same file back, and the server recovers by itself. Do ` +
        `not restart it before that: it would close the file and could not start. If the file is lost, ${restoreSteps(path)}`,
    );
  }
  return new MovedFileError(
    `another file has taken the place of the database ${path}. Move it away and the first one back, and the server ` +
      'recovers by itself. If the new file is the right one, stop the server and move ' +
      `${name}-wal and ${name}-shm of the first one away before you start it: they would damage the new one`,
  );
}

/** Reports that an open database lost its end or all of its bytes. */
export function shorterFile(path: string): MovedFileError {
  return new MovedFileError(
    `the database ${path} was cut off while this process uses it. No key is released, because records are lost. Stop the ` +
      `server. ${restoreSteps(path)}`,
  );
}

/** Reports that the log of an open database, or its index, was moved away, removed, replaced or cut off. */
export function notTheOpenLog(
  path: string,
  side: '-wal' | '-shm',
  options?: { holdsLog: boolean },
): MovedFileError {
  return new MovedFileError(
    `${path}${side} was moved, removed, replaced or cut off while this process uses it. No key is released, because its ` +
      `record could be lost. Move the same file back, and the server recovers by itself. If it is lost, remove no other ` +
      `file, run no command on ${dirname(path)}, and restart the server: it copies what it holds into ${basename(path)} as it stops`,
    options,
  );
}

/**
 * Reports a failure to open the database, with the remedy for its cause. `remedy` applies to all other
 * causes.
 */
export function openingFailure(
  path: string,
  cause: unknown,
  { verb, remedy }: { verb: 'open' | 'read'; remedy: string },
): SetupError {
  const { message } = cause as Error;
  if (codeOf(cause) === NOT_A_DATABASE) {
    return new SetupError(
      `cannot ${verb} the database ${path}: ${message}: it holds something else, or its first page is damaged. ` +
        wayBack(path),
      { cause },
    );
  }
  if (isDamage(cause)) return damagedDatabase(path, message);
  if (verb === 'read' && codeOf(cause) === READONLY) {
    return new SetupError(
      `cannot read the database ${path}: reading its log needs ${basename(path)}-shm, which this user cannot write; ` +
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
