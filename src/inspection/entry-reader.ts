/** Reads single entries of logs in the database. */
import type { LedgerStore, LogPosition } from '../ledger/index.ts';

/** Entries that are read together. */
const BLOCK = 1_024;

/** Blocks that are kept: rows are in the order of their entries, apart from servers that ran ahead. */
const MAX_BLOCKS = 64;

/** Reads single entries in blocks, of which it keeps the last used. */
export class EntryReader {
  readonly #store: LedgerStore;
  readonly #blocks = new Map<string, Uint8Array>();
  #sizes: ReadonlyMap<number, number> = new Map();

  constructor(store: LedgerStore) {
    this.#store = store;
  }

  /** Returns null for an entry that is not in its tree: a row of the table alone proves nothing. */
  async read({ logId, index }: LogPosition): Promise<Uint8Array | null> {
    if (!(await this.#isInTree(logId, index))) return null;
    const first = index - (index % BLOCK);
    const offset = 32 * (index - first);
    const block = await this.#block(logId, first, offset + 32);
    return block.length < offset + 32 ? null : block.subarray(offset, offset + 32);
  }

  async #isInTree(logId: number, index: number): Promise<boolean> {
    // The log may have grown since its size was read.
    if (index >= (this.#sizes.get(logId) ?? 0)) {
      this.#sizes = new Map((await this.#store.logs()).map((log) => [log.logId, log.size]));
    }
    return index < (this.#sizes.get(logId) ?? 0);
  }

  async #block(logId: number, first: number, needed: number): Promise<Uint8Array> {
    const name = `${logId}/${first}`;
    const kept = this.#blocks.get(name);
    this.#blocks.delete(name);
    // The log may have grown since the block was read.
    const block =
      kept && kept.length >= needed
        ? kept
        : await this.#store.readEntries(logId, first, first + BLOCK);
    this.#blocks.set(name, block);
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > MAX_BLOCKS && oldest !== undefined) this.#blocks.delete(oldest);
    return block;
  }
}

/** Reports whether `make` returns this entry. A changed row may have no statement at all, and then it throws. */
export function makes(entry: Uint8Array, make: () => Buffer): boolean {
  try {
    return make().equals(entry);
  } catch {
    return false;
  }
}
