/**
 * The state file: the last checkpoint that this server published, as it was signed.
 *
 * It lies outside the database and its backups. A server that finds an older tree in its database therefore
 * sees that the database was restored, and signs no fork.
 */

import { closeSync, lchownSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DurableFile, syncDirectory } from '#platform/files';
import { type Checkpoint, parseCheckpoint, parseNote } from '#tlog';
import { SetupError } from '../errors.ts';
import { requireOwnFile } from '../files/own-file.ts';

export interface PublishedState {
  /** The signed checkpoint, verbatim. The caller verifies its signatures. */
  readonly note: string;
  readonly checkpoint: Checkpoint;
}

/** Returns null if there is no file. Throws `FormatError` if it holds no checkpoint, and `SetupError` if it is another user's. */
export function readState(path: string): PublishedState | null {
  const note = readNote(path);
  return note === null ? null : { note, checkpoint: parseCheckpoint(parseNote(note).text) };
}

/** Returns the text of such a file; null if there is none. Throws `SetupError` if it is another user's. */
export function readNote(path: string): string | null {
  requireOwnFile(path);
  // A named pipe would hold the thread that signs, and a device has no end.
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile() && !stats.isDirectory()) {
    throw new SetupError(`${path} is not a regular file: check its name, and who put it there`);
  }
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Longest wait for another process that is replacing the file, which takes it a few milliseconds. */
const LOCK_LIMIT_MS = 5_000;

/**
 * Runs `work` while no other process that shares the file runs its own. Throws if another one holds the lock for five
 * seconds, and the error of the file system.
 *
 * The lock is one of SQLite on an empty file, because Node has no locks of files: the operating system ends it with its
 * process, so a crash leaves nothing to remove.
 */
export function withStateLock<T>(path: string, work: () => T): T {
  const lock = openLock(path);
  try {
    take(lock);
    return work();
  } finally {
    lock.close();
  }
}

function openLock(path: string): DatabaseSync {
  const lockPath = `${path}.lock`;
  // Not by SQLite, whose error does not say what is wrong with the directory.
  closeSync(openSync(lockPath, 'a', 0o600));
  const owner = serverOf(path);
  if (owner) lchownSync(lockPath, owner.uid, owner.gid);
  return new DatabaseSync(lockPath, { timeout: LOCK_LIMIT_MS });
}

function take(lock: DatabaseSync): void {
  try {
    lock.exec('BEGIN IMMEDIATE');
  } catch (cause) {
    const reason = `its lock cannot be taken (${(cause as Error).message})`;
    throw Object.assign(new Error(reason, { cause }), { syscall: 'lock' });
  }
}

/** Makes the name of the file durable, after a replacement whose last sync may have failed. */
export function syncState(path: string): void {
  syncDirectory(dirname(path));
}

/** Replaces the file, synced, so that a checkpoint which is published later is never ahead of it. */
export function writeState(path: string, note: string): void {
  const file = new DurableFile(path);
  try {
    file.write(note);
    leaveToServer(file);
    file.putInPlace({ replace: true });
  } finally {
    file.discard();
  }
}

/**
 * Gives a file that root writes by a command to the user of the server, who owns the file so far, or the directory.
 * Otherwise the server could not read it.
 */
function leaveToServer(file: DurableFile): void {
  const owner = serverOf(file.path);
  if (owner) file.giveTo(owner);
}

/** Returns the other user whose server owns the file, if this process is root's. */
function serverOf(path: string): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const owner = statSync(path, { throwIfNoEntry: false }) ?? statSync(dirname(path));
  return owner.uid === 0 ? null : owner;
}
