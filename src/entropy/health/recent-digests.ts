/**
 * Remembers the last N digests, and finds each of them exactly.
 *
 * A ring holds the digests in the order of their arrival. An open-addressing table of their places, twice as long, finds
 * them: digests are uniform, so their first bits are the hash. A `Set` of strings takes four times as long and ten times
 * the memory.
 */

/** Bytes of a word of the ring. */
const WORD_BYTES = 4;

export class RecentDigests {
  readonly #capacity: number;
  readonly #width: number;
  readonly #ring: Uint32Array;
  /** Place in the ring plus one; 0 if empty. */
  readonly #slots: Uint32Array;
  readonly #mask: number;
  #next = 0;
  #count = 0;

  /** Throws `RangeError` unless `capacity` is a power of two and `digestBytes` is whole 32-bit words. */
  constructor(capacity: number, digestBytes: number) {
    if (!Number.isInteger(Math.log2(capacity))) {
      throw new RangeError(`"capacity" expected a power of two, got ${capacity}`);
    }
    if (digestBytes < WORD_BYTES || digestBytes % WORD_BYTES !== 0) {
      throw new RangeError(`"digestBytes" expected whole words of 4 bytes, got ${digestBytes}`);
    }
    this.#capacity = capacity;
    this.#width = digestBytes / WORD_BYTES;
    this.#ring = new Uint32Array(capacity * this.#width);
    this.#slots = new Uint32Array(2 * capacity);
    this.#mask = 2 * capacity - 1;
  }

  /** Number of digests remembered. */
  get size(): number {
    return this.#count;
  }

  /**
   * Returns true if the digest at `offset` is one of the last N. Otherwise remembers it, in place of the oldest if
   * there are N.
   */
  sees(bytes: Buffer, offset = 0): boolean {
    for (let slot = bytes.readUInt32LE(offset) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const place = this.#slots[slot];
      if (place === 0) break;
      if (this.#equals(place - 1, bytes, offset)) return true;
    }
    this.#add(bytes, offset);
    return false;
  }

  #equals(place: number, bytes: Buffer, offset: number): boolean {
    const start = place * this.#width;
    let differences = 0;
    for (let i = 0; i < this.#width; i++) {
      differences |= this.#ring[start + i] ^ bytes.readUInt32LE(offset + WORD_BYTES * i);
    }
    return differences === 0;
  }

  #add(bytes: Buffer, offset: number): void {
    const place = this.#next;
    if (this.#count === this.#capacity) this.#forget(place);
    else this.#count += 1;
    for (let i = 0; i < this.#width; i++) {
      this.#ring[place * this.#width + i] = bytes.readUInt32LE(offset + WORD_BYTES * i);
    }
    let slot = this.#home(place);
    while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots[slot] = place + 1;
    this.#next = (place + 1) & (this.#capacity - 1);
  }

  #home(place: number): number {
    return this.#ring[place * this.#width] & this.#mask;
  }

  /** Removes a place from the table, and moves later ones back so that no search ends too early. */
  #forget(place: number): void {
    let hole = this.#home(place);
    while (this.#slots[hole] !== place + 1) hole = (hole + 1) & this.#mask;
    for (
      let slot = (hole + 1) & this.#mask;
      this.#slots[slot] !== 0;
      slot = (slot + 1) & this.#mask
    ) {
      const home = this.#home(this.#slots[slot] - 1);
      if (((slot - home) & this.#mask) < ((slot - hole) & this.#mask)) continue;
      this.#slots[hole] = this.#slots[slot];
      hole = slot;
    }
    this.#slots[hole] = 0;
  }
}
