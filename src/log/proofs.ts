/** Proofs from tiles, and their verification: RFC 6962 §2.1.1 and §2.1.2. */
import {
  consistencySubtrees,
  HASH_BYTES,
  inclusionSubtrees,
  perfectSubtrees,
  rootFromInclusion,
  rootFromSubtrees,
  rootSubtrees,
  rootsFromConsistency,
  type Subtree,
  TILE_WIDTH,
  tileWidth,
} from '#tlog';
import { EMPTY_ROOT, leafHash, nodeHash, perfectRoot } from './hash.ts';

/** The tiles of one log. */
export interface TileSource {
  /** Returns exactly `width` hashes, 1 to 256. Partial tiles of level 0 come from entries. */
  tile(level: number, index: number, width: number): Promise<Uint8Array>;
}

/** Returns the root of the tree's first `size` entries. */
export async function rootAt(source: TileSource, size: number): Promise<Buffer> {
  if (size === 0) return EMPTY_ROOT;
  const tree = new TiledTree(source, size);
  const hashes = await Promise.all(rootSubtrees(size).map((one) => tree.perfectHash(one)));
  return rootFromSubtrees(hashes, nodeHash);
}

/** Returns the inclusion proof of entry `index` in the tree's first `size` entries. */
export function inclusionProof(source: TileSource, index: number, size: number): Promise<Buffer[]> {
  const tree = new TiledTree(source, size);
  return Promise.all(inclusionSubtrees(index, size).map((one) => tree.hash(one)));
}

/** Returns the consistency proof between the trees of two sizes. It is empty if `from` is zero. */
export async function consistencyProof(
  source: TileSource,
  from: number,
  to: number,
): Promise<Buffer[]> {
  if (from === 0) return [];
  const tree = new TiledTree(source, to);
  return Promise.all(consistencySubtrees(from, to).map((one) => tree.hash(one)));
}

/** Hashes of subtrees of one tree. Each tile is read once. */
class TiledTree {
  readonly #source: TileSource;
  readonly #size: number;
  readonly #tiles = new Map<string, Promise<Uint8Array>>();

  constructor(source: TileSource, size: number) {
    this.#source = source;
    this.#size = size;
  }

  /** Returns the hash of a subtree of a proof. */
  async hash(subtree: Subtree): Promise<Buffer> {
    const hashes = perfectSubtrees(subtree).map((one) => this.perfectHash(one));
    return rootFromSubtrees(await Promise.all(hashes), nodeHash);
  }

  /** Returns the hash of a perfect subtree, which lies within one tile. */
  async perfectHash({ start, end }: Subtree): Promise<Buffer> {
    let level = 0;
    while (TILE_WIDTH ** (level + 1) <= end - start) level++;
    const entriesPerHash = TILE_WIDTH ** level;
    const first = start / entriesPerHash;
    const index = Math.floor(first / TILE_WIDTH);
    const offset = (first - index * TILE_WIDTH) * HASH_BYTES;
    const length = ((end - start) / entriesPerHash) * HASH_BYTES;
    const tile = await this.#tile(level, index);
    return perfectRoot(tile.subarray(offset, offset + length));
  }

  #tile(level: number, index: number): Promise<Uint8Array> {
    const name = `${level}/${index}`;
    const known = this.#tiles.get(name) ?? this.#readTile(level, index);
    this.#tiles.set(name, known);
    return known;
  }

  async #readTile(level: number, index: number): Promise<Uint8Array> {
    const width = tileWidth(level, index, this.#size);
    const tile = await this.#source.tile(level, index, width);
    if (tile.length !== width * HASH_BYTES) {
      throw new RangeError(
        `tile ${index} of level ${level} expected ${width} hashes, got ${tile.length} bytes`,
      );
    }
    return tile;
  }
}

interface Inclusion {
  readonly entry: Uint8Array;
  readonly index: number;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** Reports whether `entry` has this index in the tree with this size and root. */
export function verifyInclusion({ entry, index, size, root, proof }: Inclusion): boolean {
  if (!isIndex(index) || !isIndex(size) || index >= size || !areHashes(proof)) return false;
  const leaf: Uint8Array = leafHash(entry);
  return areEqual(rootFromInclusion({ leaf, index, size, proof }, nodeHash), root);
}

interface Consistency {
  readonly from: number;
  readonly fromRoot: Uint8Array;
  readonly to: number;
  readonly toRoot: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** Reports whether the newer tree begins with all entries of the older one. */
export function verifyConsistency({ from, fromRoot, to, toRoot, proof }: Consistency): boolean {
  if (!isIndex(from) || !isIndex(to) || from > to || !areHashes([fromRoot, toRoot, ...proof])) {
    return false;
  }
  if (from === 0) {
    const isEmptyAgain = to > 0 || areEqual(EMPTY_ROOT, toRoot);
    return proof.length === 0 && areEqual(EMPTY_ROOT, fromRoot) && isEmptyAgain;
  }
  const roots = rootsFromConsistency({ from, fromRoot, to, proof }, nodeHash);
  return roots !== null && areEqual(roots.from, fromRoot) && areEqual(roots.to, toRoot);
}

function isIndex(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function areHashes(values: readonly Uint8Array[]): boolean {
  return values.every((value) => value.length === HASH_BYTES);
}

/** Nothing compared here is secret. */
function areEqual(computed: Uint8Array | null, expected: Uint8Array): boolean {
  return computed !== null && Buffer.compare(computed, expected) === 0;
}
