/**
 * The state file: the last checkpoint that this server published, as it was signed.
 *
 * It lies outside the database and its backups. A server that finds an older tree in its database therefore
 * sees that the database was restored, and signs no fork.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Checkpoint, parseCheckpoint, parseNote } from '#tlog';
import { DurableFile } from '../files/durable-file.ts';
import { requireOwnFile } from '../files/ownership.ts';

export interface PublishedState {
  /** The signed checkpoint, verbatim. The caller verifies its signatures. */
  readonly note: string;
  readonly checkpoint: Checkpoint;
}

/** Returns null if there is no file. Throws `FormatError` if it holds no checkpoint, and `SetupError` if it is another user's. */
export function readState(path: string): PublishedState | null {
  requireOwnFile(path);
  const note = readIfExists(path);
  return note === null ? null : { note, checkpoint: parseCheckpoint(parseNote(note).text) };
}

function readIfExists(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
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
  if (process.getuid?.() !== 0) return;
  const owner = statSync(file.path, { throwIfNoEntry: false }) ?? statSync(dirname(file.path));
  if (owner.uid !== 0) file.giveTo(owner);
}
