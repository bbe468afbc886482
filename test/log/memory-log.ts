/** A log in memory: tiles as `extendTree` returns them, entries in a list. It stores what the ledger stores. */
import {
  type Edge,
  EMPTY_ROOT,
  type Extension,
  extendTree,
  leafHash,
  type TileSource,
} from '../../src/log/index.ts';

const HASH_BYTES = 32;
const TILE_WIDTH = 256;

export class MemoryLog implements TileSource {
  readonly entries: Uint8Array[] = [];
  /** Hashes by `level/index`. */
  readonly tiles = new Map<string, Uint8Array>();
  root: Uint8Array = EMPTY_ROOT;
  /** Number of tiles read. */
  reads = 0;

  get size(): number {
    return this.entries.length;
  }

  append(entries: readonly Uint8Array[]): Extension {
    const extension = extendTree(this.edge(), entries);
    for (const { level, index, hashes } of extension.tiles) {
      this.tiles.set(`${level}/${index}`, hashes);
    }
    for (const entry of entries) this.entries.push(entry);
    this.root = extension.root;
    return extension;
  }

  edge(): Edge {
    const tiles: Uint8Array[] = [];
    for (let level = 0; TILE_WIDTH ** level <= this.size; level++) {
      const hashes = Math.floor(this.size / TILE_WIDTH ** level);
      tiles.push(this.#hashes(level, Math.floor(hashes / TILE_WIDTH), hashes % TILE_WIDTH));
    }
    return { size: this.size, root: this.root, tiles };
  }

  tile(level: number, index: number, width: number): Promise<Uint8Array> {
    this.reads += 1;
    return Promise.resolve(this.#hashes(level, index, width));
  }

  #hashes(level: number, index: number, width: number): Uint8Array {
    if (width === 0) return new Uint8Array();
    const stored = this.tiles.get(`${level}/${index}`);
    if (stored !== undefined) return stored.subarray(0, width * HASH_BYTES);
    if (level > 0) throw new Error(`tile ${index} of level ${level} is missing`);
    const start = index * TILE_WIDTH;
    return Buffer.concat(this.entries.slice(start, start + width).map(leafHash));
  }
}
