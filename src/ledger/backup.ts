/**
 * Backup and restore of the embedded store. Both make the same copy: from the database to a file, or back.
 *
 * The copy is made page by page within one read transaction. In WAL mode that blocks no writer. Without the
 * transaction, each commit of another process would restart the copy.
 */

import { existsSync, rmSync, statSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { SetupError } from '../errors.ts';
import { writeNewFile } from '../files/new-file.ts';
import { requireOwnFile } from '../files/own-file.ts';
import { readMigrations, refuseBeforeBaseline } from './migrations.ts';
import { countRows } from './move/sqlite.ts';
import { damagedDatabase, isDamage, SIDE_FILES, uselessBackup } from './sqlite/damage.ts';
import { requireWritable } from './sqlite/files.ts';
import {
  isForeign,
  isNewerDatabase,
  noLedger,
  readSchema,
  refuseForeign,
} from './sqlite/schema.ts';
import type { RowCounts } from './tables.ts';

export interface CopyReport {
  readonly bytes: number;
  readonly schema: number;
  readonly rows: RowCounts;
}

/** The source of a copy: a database in use, or a backup. */
type Source = 'database' | 'backup';

/** Pages between two checks of the signal: 4 MB. */
const STEP_PAGES = 1_000;

/**
 * Copies a database, which may be in use, to a new file with mode 0600. The copy holds one state between
 * two transactions, has no write-ahead log, and is synced and checked. A failure leaves nothing behind.
 * Rejects with `SetupError`, or with the reason of `signal`.
 */
export async function copyDatabase(
  from: string,
  to: string,
  signal: AbortSignal,
  source: Source = 'database',
): Promise<CopyReport> {
  if (!statSync(from, { throwIfNoEntry: false })?.isFile()) {
    throw new SetupError(`there is no ${source} ${from}`);
  }
  // SQLite gives a new log the mode of the database: beside a read-only one it would be read-only too.
  if (source === 'database') requireWritable(from);
  else requireOwnFile(from);
  for (const side of SIDE_FILES) {
    if (!existsSync(to + side)) continue;
    throw new SetupError(
      `${to}${side} exists: stop the server, if one runs on it, then move ${to} and the files ` +
        'beside it away together; the log of another database would damage the restored one',
    );
  }
  return writeNewFile(to, async (temporary) => {
    try {
      const counted = await copySnapshot(from, temporary, signal, source);
      const copy = checkCopy(temporary, from, source);
      if (JSON.stringify(copy) !== JSON.stringify(counted)) throw new Error('rows are missing');
      return { bytes: statSync(temporary).size, ...copy };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SetupError || (error as NodeJS.ErrnoException).syscall) throw error;
      if (isDamage(error)) throw damagedSource(source, from, (error as Error).message);
      throw new SetupError(
        `cannot copy ${from} to ${to}: ${(error as Error).message}${isForbidden(error) ? AS_SERVER : ''}`,
      );
    } finally {
      for (const side of SIDE_FILES) rmSync(temporary + side, { force: true });
    }
  });
}

const AS_SERVER =
  '; run this as the user of the server, who can write to the directories of both files';

/** SQLite's codes for files that this user may not open or write: PERM, READONLY, CANTOPEN. */
const FORBIDDEN = [3, 8, 14];

function isForbidden(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  // The low byte is the code; the others refine it.
  return errcode !== undefined && FORBIDDEN.includes(errcode & 0xff);
}

function damagedSource(source: Source, path: string, found: string): SetupError {
  return source === 'backup' ? uselessBackup(path, found) : damagedDatabase(path, found);
}

type Contents = Pick<CopyReport, 'schema' | 'rows'>;

async function copySnapshot(
  from: string,
  to: string,
  signal: AbortSignal,
  source: Source,
): Promise<Contents> {
  const database = new DatabaseSync(from, { timeout: 5_000 });
  try {
    database.exec('BEGIN');
    requireLedger(database, from, source);
    const contents = readContents(database, from);
    await backup(database, to, { rate: STEP_PAGES, progress: () => signal.throwIfAborted() });
    return contents;
  } finally {
    database.close();
  }
}

/** Throws `SetupError` if the file holds no ledger, or a backup one that this program could not bring up to date. */
function requireLedger(database: DatabaseSync, path: string, source: Source): void {
  const isEmpty = readSchema(database).version === 0;
  if (source === 'backup' && (isEmpty || isForeign(database))) {
    throw uselessBackup(path, 'it holds no ledger');
  }
  refuseForeign(database, path);
  if (isEmpty) throw noLedger(path);
  if (source === 'database') return;
  const { version } = readSchema(database);
  refuseBeforeBaseline(`the backup ${path}`, version, readMigrations('sqlite'));
}

/** Checks the copy without a log beside it, because it is not yet a server's database. */
function checkCopy(path: string, from: string, source: Source): Contents {
  const copy = new DatabaseSync(path);
  try {
    copy.exec('PRAGMA journal_mode = DELETE');
    const found = copy.prepare('PRAGMA integrity_check(1)').get()?.integrity_check;
    if (found !== 'ok') throw damagedSource(source, from, String(found).replace(/\s*\n\s*/g, ' '));
    return readContents(copy, path);
  } finally {
    copy.close();
  }
}

/**
 * Returns the schema version and the rows of each table. Throws `SetupError` if this program cannot work
 * with the ledger.
 */
function readContents(database: DatabaseSync, path: string): Contents {
  isNewerDatabase(database, path);
  const { version: schema } = readSchema(database);
  return { schema, rows: countRows(database) };
}
