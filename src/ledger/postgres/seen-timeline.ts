/**
 * The newest timeline of the database that a server has seen. Each promotion begins a higher one, so a primary that
 * writes a lower one was replaced.
 *
 * The threads of a process share it. A file beside the state file of the log keeps it, so that a server that starts while
 * only the old primary answers does not use that one.
 */

import { readFileSync } from 'node:fs';
import { writeDurably } from '#platform/files';
import { SetupError } from '../../errors.ts';

/** Where a process keeps what it has seen. */
export interface TimelineMemory {
  /** Path of the file, which is read at the start. */
  readonly timelineFile?: string;
  /** True if this process writes the file: a server, not a command. */
  readonly keepsTimeline?: boolean;
  /** Memory that the threads of a server share. */
  readonly timelines?: SharedArrayBuffer;
}

/** A history of the database. */
export interface Lineage {
  /** System identifier of the cluster, in decimal; `0` if the role may not read it. */
  readonly cluster: string;
  readonly timeline: number;
}

/** Positions in the memory. */
const [CLUSTER, TIMELINE, WATCHED, CHANGES] = [0, 1, 2, 3];
const WORDS = 4;

const FORM = /^(?<cluster>\d{1,20}) (?<timeline>\d{1,10})\n$/;

export class SeenTimeline {
  /** Path of the file; null without. */
  readonly file: string | null;
  readonly #keeps: boolean;
  /** What the file held when this process started. */
  readonly #before: Lineage | null;
  readonly #words: BigUint64Array<SharedArrayBuffer>;
  #isKept = true;
  #watches = false;

  /** Throws `SetupError` if the file cannot be read. */
  constructor({ timelineFile, keepsTimeline = false, timelines }: TimelineMemory = {}) {
    this.file = timelineFile ?? null;
    this.#keeps = keepsTimeline && timelineFile !== undefined;
    this.#before = this.file === null ? null : readLineage(this.file);
    this.#words = new BigUint64Array(timelines ?? SeenTimeline.allocate());
  }

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(WORDS * BigUint64Array.BYTES_PER_ELEMENT);
  }

  /** What this process uses; null before its first connection. */
  get used(): Lineage | null {
    const timeline = Number(Atomics.load(this.#words, TIMELINE));
    return timeline === 0
      ? null
      : { cluster: String(Atomics.load(this.#words, CLUSTER)), timeline };
  }

  /** The newest history that this server has seen; null if none. */
  get newest(): Lineage | null {
    return this.used ?? this.#before;
  }

  /** Notes a history before its server is used. Returns the error if the file could not be written. */
  note({ cluster, timeline }: Lineage): Error | null {
    Atomics.compareExchange(this.#words, CLUSTER, 0n, BigInt(cluster));
    const noted = BigInt(timeline);
    let seen = Atomics.load(this.#words, TIMELINE);
    while (seen < noted) {
      const found = Atomics.compareExchange(this.#words, TIMELINE, seen, noted);
      if (found === seen) this.#isKept = false;
      seen = found === seen ? noted : found;
    }
    return this.keep();
  }

  /** Writes the file if it is behind. Returns the error if that failed: the next call tries again. */
  keep(): Error | null {
    if (this.#isKept || !this.#keeps || this.file === null) return null;
    try {
      for (let { used } = this; used !== null; used = this.used) {
        if (!hasReached(readLineage(this.file), used)) write(this.file, used);
        // Meanwhile another thread may have written a higher one, which this one replaced.
        if (isSame(used, this.used)) break;
      }
      this.#isKept = true;
      return null;
    } catch (error) {
      return error as Error;
    }
  }

  /** Returns true if this thread watches the hosts for all threads: the first one that asks. */
  watches(): boolean {
    this.#watches ||= Atomics.compareExchange(this.#words, WATCHED, 0n, 1n) === 0n;
    return this.#watches;
  }

  /** Counts the changes that the watching thread has announced. */
  get changes(): bigint {
    return Atomics.load(this.#words, CHANGES);
  }

  /** Tells the other threads that this one has left its server, if it watches: they look for themselves then. */
  announce(): void {
    if (this.#watches) Atomics.add(this.#words, CHANGES, 1n);
  }

  /** Leaves the watch to another thread. */
  leave(): void {
    if (this.#watches) Atomics.store(this.#words, WATCHED, 0n);
    this.#watches = false;
  }
}

function isSame(a: Lineage, b: Lineage | null): boolean {
  return a.cluster === b?.cluster && a.timeline === b.timeline;
}

/** Reports whether a file needs no write. A server with the same file may have seen a later timeline. */
function hasReached(kept: Lineage | null, used: Lineage): boolean {
  return kept?.cluster === used.cluster && kept.timeline >= used.timeline;
}

function write(path: string, { cluster, timeline }: Lineage): void {
  writeDurably(path, `${cluster} ${timeline}\n`, { replace: true });
}

function readLineage(path: string): Lineage | null {
  const { cluster, timeline } = FORM.exec(readIfExists(path) ?? '0 0\n')?.groups ?? {};
  if (cluster === undefined || timeline === undefined) {
    throw new SetupError(
      `the file ${path} does not hold the newest timeline of the database: remove it`,
    );
  }
  return timeline === '0' ? null : { cluster, timeline: Number(timeline) };
}

function readIfExists(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new SetupError(`the newest timeline of the database cannot be read: ${message}`);
  }
}
