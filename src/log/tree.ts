/** Growth of the log's tree, one run at a time: RFC 6962 §2.1 in the tiles of https://c2sp.org/tlog-tiles. */
import { HASH_BYTES, perfectSubtrees, rootFromSubtrees, TILE_WIDTH } from '#tlog';
import { EMPTY_ROOT, leafHashInto, nodeHash, perfectRoot, perfectRootInto } from './hash.ts';

/** The right edge of a tree, which is enough to append entries. */
export interface Edge {
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
  /** For each level the hashes of its partial rightmost tile; empty if its last tile is full. */
  readonly tiles: readonly Uint8Array[];
}

export interface Tile {
  readonly level: number;
  readonly index: number;
  /** 1 to 256 hashes of 32 bytes. */
  readonly hashes: Uint8Array;
}

export interface Extension {
  readonly size: number;
  readonly root: Buffer;
  /** Each full tile of level 0, and each changed tile of the levels above, full or partial. */
  readonly tiles: readonly Tile[];
}

/** Stored hashes that do not belong to the stored root: something other than the log has written them. */
export class TreeError extends Error {
  override readonly name = 'TreeError';
}

const TILE_BYTES = TILE_WIDTH * HASH_BYTES;

/**
 * Returns what changes when `entries` are appended. Throws `TreeError`, and extends nothing, if the edge
 * does not hash to its own root.
 */
export function extendTree(edge: Edge, entries: readonly Uint8Array[]): Extension {
  if (!rootOfEdge(edge).equals(edge.root)) {
    throw new TreeError(`the stored tiles of size ${edge.size} do not hash to the stored root`);
  }
  const growth = new Growth(edge);
  for (const entry of entries) growth.append(entry);
  const size = edge.size + entries.length;
  return {
    size,
    root: rootOfEdge({ size, root: edge.root, tiles: growth.edgeTiles() }),
    tiles: growth.changedTiles(),
  };
}

/**
 * Returns the root of a tree from its right edge. It equals `edge.root` unless stored hashes were changed.
 * Throws `TreeError` if a tile has the wrong length for the size.
 */
export function rootOfEdge({ size, tiles }: Edge): Buffer {
  if (size === 0) return EMPTY_ROOT;
  const subtrees: Buffer[] = [];
  for (let level = highestLevel(size); level >= 0; level--) {
    const hashes = tiles[level] ?? new Uint8Array();
    const width = Math.floor(size / TILE_WIDTH ** level) % TILE_WIDTH;
    if (hashes.length !== width * HASH_BYTES) {
      throw new TreeError(
        `the stored tile of level ${level} has ${hashes.length} bytes, not the ${width * HASH_BYTES} of size ${size}`,
      );
    }
    for (const { start, end } of perfectSubtrees({ start: 0, end: width })) {
      subtrees.push(perfectRoot(hashes.subarray(start * HASH_BYTES, end * HASH_BYTES)));
    }
  }
  return rootFromSubtrees(subtrees, nodeHash);
}

/** Returns the highest level that has a hash in a tree of `size` entries, from 1 entry on. */
function highestLevel(size: number): number {
  let level = 0;
  while (TILE_WIDTH ** (level + 1) <= size) level++;
  return level;
}

/** The rightmost tile of one level while the tree grows. */
interface OpenTile {
  index: number;
  width: number;
  isChanged: boolean;
  /** Room for 256 hashes. */
  readonly hashes: Buffer;
}

/** The right edge while entries are appended. */
class Growth {
  readonly #levels: OpenTile[];
  readonly #full: Tile[] = [];

  constructor({ size, tiles }: Edge) {
    this.#levels = tiles.map((hashes, level) => {
      const tile = newTile(Math.floor(size / TILE_WIDTH ** (level + 1)));
      tile.hashes.set(hashes);
      tile.width = hashes.length / HASH_BYTES;
      return tile;
    });
  }

  append(entry: Uint8Array): void {
    const tile = this.#open(0);
    leafHashInto(tile.hashes, tile.width * HASH_BYTES, entry);
    this.#widen(0, tile);
  }

  #open(level: number): OpenTile {
    this.#levels[level] ??= newTile(0);
    return this.#levels[level];
  }

  /** Counts the hash that was written last. A full tile is closed, and its root goes to the level above. */
  #widen(level: number, tile: OpenTile): void {
    tile.width += 1;
    tile.isChanged = true;
    if (tile.width < TILE_WIDTH) return;
    const hashes = Buffer.from(tile.hashes);
    this.#full.push({ level, index: tile.index, hashes });
    tile.index += 1;
    tile.width = 0;
    tile.isChanged = false;
    const above = this.#open(level + 1);
    perfectRootInto(above.hashes, above.width * HASH_BYTES, hashes);
    this.#widen(level + 1, above);
  }

  edgeTiles(): Uint8Array[] {
    return this.#levels.map(({ hashes, width }) => hashes.subarray(0, width * HASH_BYTES));
  }

  changedTiles(): Tile[] {
    const edges = this.edgeTiles();
    const partial = this.#levels.flatMap(({ index, isChanged }, level) =>
      level > 0 && isChanged
        ? [{ level, index, hashes: Buffer.from(edges[level] as Uint8Array) }]
        : [],
    );
    return [...this.#full, ...partial];
  }
}

function newTile(index: number): OpenTile {
  return { index, width: 0, isChanged: false, hashes: Buffer.alloc(TILE_BYTES) };
}
