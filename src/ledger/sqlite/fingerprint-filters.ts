/**
 * Bloom filters of the merged fingerprints, one for each bucket.
 *
 * In a large ledger, each question to the index reads another page. The fingerprint of a new key is almost never there,
 * and a filter in memory says so without a read. A filter is saved in the transaction that merges entries into its
 * bucket. A bucket without a filter may hold anything.
 *
 * A filter has four parts of 4,096 bits, each for twelve bits of the fingerprint after those of the bucket. With 10^7 rows,
 * 4 % of new fingerprints pass. All filters take 8 MiB.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SqliteConnection } from './connection.ts';

const PARTS = 4;
const PART_BITS = 4_096;
const FILTER_BYTES = (PARTS * PART_BITS) / 8;

/**
 * Fingerprints that a new filter takes, if its bucket does not hold more already. Then it is made again, because
 * those of removed rows stay in it.
 */
const MIN_ROOM = 4_096;

/** The 48 bits after those of the bucket, which a number holds exactly. */
const REST = '(fingerprint >> 4) & 0xffffffffffff';
const RESTS = `SELECT ${REST} AS rest FROM fingerprints
  WHERE fingerprint BETWEEN (?1 << 52) AND ((?1 << 52) | 0xfffffffffffff)`;

export class FingerprintFilters {
  readonly #connection: SqliteConnection;
  /** Filters that were read, by bucket; null for a bucket without one. */
  readonly #filters = new Map<number, Uint8Array | null>();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /** Empties the memory. Necessary if others have merged entries, or if a transaction that did was not committed. */
  forget(): void {
    this.#filters.clear();
  }

  /** Returns false only if no merged entry has the fingerprint. */
  mayHold(fingerprint: bigint): boolean {
    const filter = this.#filterOf(Number(BigInt.asUintN(12, fingerprint >> 52n)));
    return filter === null || hasBits(filter, restOf(fingerprint));
  }

  /** Adds fingerprints that the transaction has merged into a bucket. */
  add(bucket: number, fingerprints: readonly bigint[]): void {
    if (fingerprints.length === 0) return;
    const saved = this.#connection.get(
      'SELECT room, bits FROM fingerprint_filters WHERE bucket = ?',
      bucket,
    );
    let room = Number(saved?.room ?? 0) - fingerprints.length;
    let filter = saved?.bits as Uint8Array;
    if (room >= 0) for (const one of fingerprints) setBits(filter, restOf(one));
    else ({ room, filter } = this.#make(bucket));
    this.#filters.set(bucket, filter);
    this.#connection.run(
      'INSERT OR REPLACE INTO fingerprint_filters (bucket, room, bits) VALUES (?, ?, ?)',
      bucket,
      room,
      filter,
    );
  }

  #filterOf(bucket: number): Uint8Array | null {
    let filter = this.#filters.get(bucket);
    if (filter === undefined) {
      const saved = this.#connection.get(
        'SELECT bits FROM fingerprint_filters WHERE bucket = ?',
        bucket,
      );
      filter = (saved?.bits as Uint8Array | undefined) ?? null;
      this.#filters.set(bucket, filter);
    }
    return filter;
  }

  /** Makes a bucket's filter from its entries in the index. */
  #make(bucket: number): { room: number; filter: Uint8Array } {
    const filter = new Uint8Array(FILTER_BYTES);
    const rows = this.#connection.all(RESTS, bucket);
    for (const { rest } of rows) setBits(filter, Number(rest));
    return { room: Math.max(MIN_ROOM, rows.length), filter };
  }
}

/** Returns the first bucket whose filter lacks an entry of the index; null without one. */
export function findUnfiltered(database: DatabaseSync): number | null {
  const filters = database.prepare('SELECT bucket, bits FROM fingerprint_filters').all();
  const rests = database.prepare(RESTS);
  for (const { bucket, bits } of filters) {
    for (const { rest } of rests.iterate(Number(bucket)))
      if (!hasBits(bits as Uint8Array, Number(rest))) return Number(bucket);
  }
  return null;
}

function restOf(fingerprint: bigint): number {
  return Number(BigInt.asUintN(48, fingerprint >> 4n));
}

function setBits(filter: Uint8Array, rest: number): void {
  for (let part = 0, left = rest; part < PARTS; part++, left = Math.floor(left / PART_BITS)) {
    const bit = part * PART_BITS + (left % PART_BITS);
    filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
}

function hasBits(filter: Uint8Array, rest: number): boolean {
  for (let part = 0, left = rest; part < PARTS; part++, left = Math.floor(left / PART_BITS)) {
    const bit = part * PART_BITS + (left % PART_BITS);
    if (((filter[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}
