/**
 * The recent entries of the index by fingerprint, in memory. An entry is 24 bytes: the first eight of the
 * commitment, and the key ID. Buckets by the first 12 bits keep those together that a merge writes to
 * neighbouring pages. Bytes instead of objects: the garbage collector sees only the buckets.
 */
import type { LedgerRow } from '../ledger-row.ts';

const FINGERPRINT_BYTES = 8;
const ENTRY_BYTES = 24;
export const BUCKETS = 4_096;

/** Entries for which a bucket has room at first. */
const FIRST_CAPACITY = 16;

interface Bucket {
  bytes: Buffer;
  /** Bytes in use. */
  length: number;
}

/** Returns the entries of rows, one after another. */
export function packEntries(rows: readonly LedgerRow[]): Buffer {
  const entries = Buffer.allocUnsafe(rows.length * ENTRY_BYTES);
  for (const [i, { commitment, keyId }] of rows.entries()) {
    entries.writeBigInt64BE(commitment.fingerprint, i * ENTRY_BYTES);
    entries.set(keyId, i * ENTRY_BYTES + FINGERPRINT_BYTES);
  }
  return entries;
}

export class RecentEntries {
  readonly #buckets = new Map<number, Bucket>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(entries: Uint8Array): void {
    for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
      const bucket = this.#withRoom(((entries[at] ?? 0) << 4) | ((entries[at + 1] ?? 0) >> 4));
      // Faster than `set` for so few bytes: a server may read half a million entries when it starts.
      for (let i = 0; i < ENTRY_BYTES; i++) bucket.bytes[bucket.length + i] = entries[at + i] ?? 0;
      bucket.length += ENTRY_BYTES;
    }
    this.#count += entries.length / ENTRY_BYTES;
  }

  /** Returns the key IDs of the entries with this fingerprint. */
  find(fingerprint: bigint): Uint8Array[] {
    const high = Number(BigInt.asUintN(32, fingerprint >> 32n));
    const low = Number(BigInt.asUintN(32, fingerprint));
    const bucket = this.#buckets.get(high >>> 20);
    if (!bucket) return [];
    const found: Uint8Array[] = [];
    for (let at = 0; at < bucket.length; at += ENTRY_BYTES) {
      if (bucket.bytes.readUInt32BE(at) !== high || bucket.bytes.readUInt32BE(at + 4) !== low)
        continue;
      found.push(bucket.bytes.subarray(at + FINGERPRINT_BYTES, at + ENTRY_BYTES));
    }
    return found;
  }

  /** Returns the number of entries in a bucket. */
  countOf(bucket: number): number {
    return (this.#buckets.get(bucket)?.length ?? 0) / ENTRY_BYTES;
  }

  /** Returns fingerprint and key ID of each entry in a bucket, as views that are valid until the entries change. */
  entriesOf(bucket: number): [bigint, Uint8Array][] {
    const { bytes, length } = this.#buckets.get(bucket) ?? { bytes: Buffer.alloc(0), length: 0 };
    return Array.from({ length: length / ENTRY_BYTES }, (_, i) => {
      const entry = bytes.subarray(i * ENTRY_BYTES, (i + 1) * ENTRY_BYTES);
      return [entry.readBigInt64BE(), entry.subarray(FINGERPRINT_BYTES)];
    });
  }

  empty(bucket: number): void {
    this.#count -= this.countOf(bucket);
    const found = this.#buckets.get(bucket);
    if (found) found.length = 0;
  }

  clear(): void {
    this.#buckets.clear();
    this.#count = 0;
  }

  #withRoom(number: number): Bucket {
    let bucket = this.#buckets.get(number);
    if (!bucket) {
      bucket = { bytes: Buffer.alloc(FIRST_CAPACITY * ENTRY_BYTES), length: 0 };
      this.#buckets.set(number, bucket);
    }
    if (bucket.length === bucket.bytes.length) {
      // By a quarter, and outside the pool of small buffers, which would keep what the bucket has outgrown.
      const entries = Math.ceil((1.25 * bucket.length) / ENTRY_BYTES);
      const larger = Buffer.alloc(entries * ENTRY_BYTES);
      larger.set(bucket.bytes);
      bucket.bytes = larger;
    }
    return bucket;
  }
}
