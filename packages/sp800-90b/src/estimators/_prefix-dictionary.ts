/**
 * Counts of the symbols that followed each tuple of one length, for the predictors of SP 800-90B
 * §6.3.9 and §6.3.10 on symbols of more than one bit.
 *
 * A prefix is identified by the position where it first ended in the sequence, so prefixes with
 * equal hashes are compared by their symbols. A second table holds the counts of (prefix, symbol)
 * pairs. Both are open hash tables that double when half full.
 */
const FREE = -1;

const START_SLOTS = 256;

/** Multiplier of multiplicative hashing: 2^32 divided by the golden ratio. */
const GOLDEN = 0x9e37_79b1;

/**
 * Returns the hash of the tuple that begins one symbol earlier: `symbol`, then the tuple hashed to
 * `hash`.
 */
export function extendHash(hash: number, symbol: number): number {
  const mixed = Math.imul(hash ^ (symbol + 1), GOLDEN);
  return mixed ^ (mixed >>> 15);
}

export class PrefixDictionary {
  readonly #symbols: Uint8Array;
  readonly #length: number;
  /** Numbers of prefixes, by hash slot. */
  #slots = new Int32Array(START_SLOTS).fill(FREE);
  readonly #hashes: number[] = [];
  readonly #ends: number[] = [];
  readonly #bestSymbols: number[] = [];
  readonly #bestCounts: number[] = [];
  #pairKeys = new Int32Array(START_SLOTS).fill(FREE);
  #pairCounts = new Int32Array(START_SLOTS);
  #pairs = 0;

  constructor(symbols: Uint8Array, length: number) {
    this.#symbols = symbols;
    this.#length = length;
  }

  /** Number of pairs held. */
  get pairs(): number {
    return this.#pairs;
  }

  /**
   * Returns the number of the prefix that ends before position `end`; negative if it is not held.
   */
  find(end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const prefix = slots[slot];
      if (prefix === FREE || (this.#hashes[prefix] === hash && this.#equals(prefix, end))) {
        return prefix;
      }
    }
  }

  /** Adds the prefix that ends before `end`, which MUST NOT be held already. Returns its number. */
  add(end: number, hash: number): number {
    const prefix = this.#ends.push(end) - 1;
    this.#hashes.push(hash);
    this.#bestSymbols.push(0);
    this.#bestCounts.push(0);
    if (2 * this.#ends.length > this.#slots.length) this.#growSlots();
    else this.#place(prefix);
    return prefix;
  }

  /** Returns the symbol that followed most often; the greatest if several did. */
  bestSymbol(prefix: number): number {
    return this.#bestSymbols[prefix];
  }

  bestCount(prefix: number): number {
    return this.#bestCounts[prefix];
  }

  /** Counts `symbol` after `prefix`. Adds a new pair only if `mayAdd`. */
  count(prefix: number, symbol: number, mayAdd: boolean): void {
    const key = prefix * 256 + symbol;
    const slot = this.#pairSlot(key);
    if (this.#pairKeys[slot] === FREE && !mayAdd) return;
    const count = ++this.#pairCounts[slot];
    const best = this.#bestCounts[prefix];
    if (count > best || (count === best && symbol > this.#bestSymbols[prefix])) {
      this.#bestCounts[prefix] = count;
      this.#bestSymbols[prefix] = symbol;
    }
    if (this.#pairKeys[slot] !== FREE) return;
    this.#pairKeys[slot] = key;
    this.#pairs++;
    if (2 * this.#pairs > this.#pairKeys.length) this.#growPairs();
  }

  #equals(prefix: number, end: number): boolean {
    const other = this.#ends[prefix];
    for (let i = 1; i <= this.#length; i++) {
      if (this.#symbols[end - i] !== this.#symbols[other - i]) return false;
    }
    return true;
  }

  #place(prefix: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#hashes[prefix] & mask;
    while (this.#slots[slot] !== FREE) slot = (slot + 1) & mask;
    this.#slots[slot] = prefix;
  }

  #growSlots(): void {
    this.#slots = new Int32Array(2 * this.#slots.length).fill(FREE);
    for (let prefix = 0; prefix < this.#ends.length; prefix++) this.#place(prefix);
  }

  #pairSlot(key: number): number {
    const keys = this.#pairKeys;
    const mask = keys.length - 1;
    let slot = (Math.imul(key, GOLDEN) >>> 8) & mask;
    while (keys[slot] !== key && keys[slot] !== FREE) slot = (slot + 1) & mask;
    return slot;
  }

  #growPairs(): void {
    const [keys, counts] = [this.#pairKeys, this.#pairCounts];
    this.#pairKeys = new Int32Array(2 * keys.length).fill(FREE);
    this.#pairCounts = new Int32Array(2 * keys.length);
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] === FREE) continue;
      const slot = this.#pairSlot(keys[i]);
      this.#pairKeys[slot] = keys[i];
      this.#pairCounts[slot] = counts[i];
    }
  }
}
