/** Tiles of one log as the ledger stores them. */
import type { LogStore } from '../../ledger/index.ts';
import { leafHash, type TileSource } from '../../log/index.ts';
import { LogStopped } from './stopped.ts';

export const TILE_WIDTH = 256;
const HASH_BYTES = 32;

/** Reads tiles. Level 0 comes from the entries, unless the tile is full. */
export class StoredTiles implements TileSource {
  readonly #store: Pick<LogStore, 'readEntries' | 'readTile'>;
  readonly #logId: number;

  constructor(store: Pick<LogStore, 'readEntries' | 'readTile'>, logId: number) {
    this.#store = store;
    this.#logId = logId;
  }

  /** Returns the first `width` hashes of a tile. Rejects with `LogStopped` if the ledger has fewer. */
  async tile(level: number, index: number, width: number): Promise<Uint8Array> {
    const hashes =
      level === 0 && width < TILE_WIDTH
        ? await this.#leafHashes(index * TILE_WIDTH, width)
        : await this.#store.readTile(this.#logId, level, index);
    if (hashes && hashes.length >= width * HASH_BYTES)
      return hashes.subarray(0, width * HASH_BYTES);
    throw new LogStopped(
      `the ledger lacks tile ${index} of level ${level} of the log: restore the database and run ` +
        'phm log recover, which names what is missing',
    );
  }

  /** Returns `width` entries from `from` on, 32 bytes each. Rejects with `LogStopped` if the ledger has fewer. */
  async entries(from: number, width: number): Promise<Uint8Array> {
    const entries = await this.#store.readEntries(this.#logId, from, from + width);
    if (entries.length === width * HASH_BYTES) return entries;
    throw new LogStopped(
      `the ledger lacks entries of the log between ${from} and ${from + width}: restore the database and run ` +
        'phm log recover, which names what is missing',
    );
  }

  async #leafHashes(from: number, width: number): Promise<Uint8Array> {
    const entries = await this.entries(from, width);
    const hashes = new Uint8Array(width * HASH_BYTES);
    for (let at = 0; at < entries.length; at += HASH_BYTES) {
      hashes.set(leafHash(entries.subarray(at, at + HASH_BYTES)), at);
    }
    return hashes;
  }
}
