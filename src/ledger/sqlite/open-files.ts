/**
 * Notices that files of an open database are no longer at their place: the database, its log and the log's index. SQLite
 * goes on with the files that it holds, and what it writes to a removed log ends with the process.
 *
 * SQLite does not tell which files it holds. It opens or creates both with the first read, so they are noted then, and
 * compared at the begin and the end of each transaction.
 */
import { type Stats, statSync } from 'node:fs';
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
   * Throws if one of the files was moved, removed or replaced, or if the database or the log was cut off. `minimum` returns
   * how long it must be, and is asked only if it became shorter: a database does so by VACUUM, a log begins anew. The header
   * of the log tells nothing: each connection counts its own checkpoints, and salts may be drawn anew.
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
    this.#logBytes = size;
  }

  /** Forgets the log after SQLite has closed it. The last connection of all processes removes it, and the next one makes another. */
  closed(): void {
    if (look(`${this.#path}-wal`) !== undefined) return;
    this.#sides = null;
    this.#logBytes = 0;
  }
}

/** In the order of their importance in a message. */
const SIDES = ['-wal', '-shm'] as const;

function look(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false });
}

function placeOf(stats: Stats | undefined): Place {
  return stats ? `${stats.dev}/${stats.ino}` : null;
}
