/**
 * Notices that files of an open database are no longer at their place: the database, its log and the log's index. SQLite
 * goes on with the files that it holds, and what it writes to a removed log ends with the process.
 *
 * SQLite does not tell which files it holds. It opens or creates both with the first read, so they are noted then, and
 * compared at the begin and the end of each transaction.
 */
import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { notTheOpenFile, notTheOpenLog, shorterFile } from './damage.ts';

/** Device and inode of the file at a path; null without one. */
type Place = string | null;

export class OpenFiles {
  readonly #path: string;
  /** The database, which never changes while this process runs. */
  readonly place: string;
  /** The log and its index; null while they are not open. */
  #sides: readonly Place[] | null = null;
  /** Sizes of the database and the log after the last look. */
  #databaseBytes: number;
  #logBytes = 0;
  /** What the log began with at the last look; null while it was empty. */
  #logHeader: Buffer | null = null;

  /** Throws if there is no such file. */
  constructor(path: string) {
    this.#path = path;
    const stats = statSync(path);
    this.place = placeOf(stats) as string;
    this.#databaseBytes = stats.size;
  }

  /** Notes the log and its index after a connection has read the database, and so opened both. */
  opened(): void {
    const stats = SIDES.map((side) => look(this.#path + side));
    if (stats.every((one) => one !== undefined)) this.#sides ??= stats.map(placeOf);
  }

  /** Throws if the database was moved, removed, replaced or emptied. The same file may come back. Returns its size. */
  requireDatabase(): number {
    const stats = look(this.#path);
    const place = placeOf(stats);
    if (place !== this.place) throw notTheOpenFile(this.#path, place !== null);
    const size = stats?.size ?? 0;
    if (size === 0 && this.#databaseBytes > 0) throw shorterFile(this.#path);
    return size;
  }

  /**
   * Throws if one of the files was moved, removed or replaced, if the database or the log was cut off, or if another log was
   * written over this one. `minimum` returns
   * how long it must be, and is asked only if it became shorter: a database does so by VACUUM, a log begins anew.
   */
  require(minimum: { databaseBytes(): number; logBytes(): number }): void {
    const databaseBytes = this.requireDatabase();
    if (databaseBytes < this.#databaseBytes && databaseBytes < minimum.databaseBytes()) {
      throw shorterFile(this.#path);
    }
    this.#databaseBytes = databaseBytes;
    const stats = SIDES.map((side) => look(this.#path + side));
    const sides = stats.map(placeOf);
    this.#sides ??= sides;
    const moved = SIDES.find((_, i) => sides[i] !== this.#sides?.[i] || sides[i] === null);
    if (moved !== undefined) {
      throw notTheOpenLog(this.#path, moved, {
        holdsLog: moved === '-wal' && sides[1] === this.#sides[1],
      });
    }
    const size = stats[0]?.size ?? 0;
    if (size < this.#logBytes && size < minimum.logBytes()) throw notTheOpenLog(this.#path, '-wal');
    const header = size > 0 ? readLogHeader(`${this.#path}-wal`) : null;
    if (header && this.#logHeader && !continues(header, this.#logHeader)) {
      throw notTheOpenLog(this.#path, '-wal');
    }
    this.#logHeader = header;
    this.#logBytes = size;
  }

  /** Forgets the log after SQLite has closed it. The last connection of all processes removes it, and the next one makes another. */
  closed(): void {
    if (look(`${this.#path}-wal`) !== undefined) return;
    this.#sides = null;
    this.#logBytes = 0;
    this.#logHeader = null;
  }
}

/** In the order of their importance in a message. */
const SIDES = ['-wal', '-shm'] as const;

const LOG_HEADER_BYTES = 32;
/** Places in the header: the number of checkpoints, and the first salt. */
const SEQUENCE_AT = 12;
const SALT_AT = 16;

/** No lock of SQLite is on the log, so that closing it here releases none. */
function readLogHeader(path: string): Buffer | null {
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(LOG_HEADER_BYTES);
    return readSync(file, header, 0, LOG_HEADER_BYTES, 0) === LOG_HEADER_BYTES ? header : null;
  } finally {
    closeSync(file);
  }
}

/** False for the header of another log, written over this one. SQLite counts both numbers up when it begins the log anew. */
function continues(header: Buffer, before: Buffer): boolean {
  if (header.equals(before)) return true;
  const [sequences = 0, salts] = [SEQUENCE_AT, SALT_AT].map(
    (at) => (header.readUInt32BE(at) - before.readUInt32BE(at)) >>> 0,
  );
  return sequences === salts && sequences > 0 && sequences < 2 ** 31;
}

function look(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false });
}

function placeOf(stats: Stats | undefined): Place {
  return stats ? `${stats.dev}/${stats.ino}` : null;
}
