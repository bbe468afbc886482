/**
 * Computes a Merkle tree from its entries in order (RFC 6962 §2.1), with memory for one tile per level. The monitor
 * compares the result with tiles and checkpoints that it did not compute.
 */
import { TILE_WIDTH } from '#tlog';
import { EMPTY_ROOT, leafHash, nodeHash } from '../log/index.ts';

/** A full tile: 256 hashes of 32 bytes. */
export interface FullTile {
  readonly level: number;
  readonly index: number;
  readonly hashes: readonly Uint8Array[];
}

export class RunningTree {
  /** The hashes of the rightmost tile of each level, fewer than 256. */
  readonly #levels: Uint8Array[][] = [[]];
  /** The number of full tiles of each level. */
  readonly #full: number[] = [0];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Appends one entry. Returns the tiles that it completes, the lowest level first. */
  append(entry: Uint8Array): FullTile[] {
    this.#size++;
    const completed: FullTile[] = [];
    let hash: Uint8Array = leafHash(entry);
    for (let level = 0; ; level++) {
      const hashes = this.#levels[level] ?? [];
      this.#levels[level] = hashes;
      hashes.push(hash);
      if (hashes.length < TILE_WIDTH) return completed;
      const index = this.#full[level] ?? 0;
      completed.push({ level, index, hashes });
      this.#full[level] = index + 1;
      this.#levels[level] = [];
      hash = rootOf(hashes);
    }
  }

  /** Returns the rightmost tile of each level that is neither empty nor full. */
  partialTiles(): FullTile[] {
    return this.#levels
      .map((hashes, level) => ({ level, index: this.#full[level] ?? 0, hashes }))
      .filter(({ hashes }) => hashes.length > 0);
  }

  root(): Uint8Array {
    let right: Uint8Array | null = null;
    // Each level's hashes are perfect trees, larger than all that the levels below leave over.
    for (const hashes of this.#levels) {
      const list: Uint8Array[] = right === null ? hashes : [...hashes, right];
      if (list.length > 0) right = rootOf(list);
    }
    return right ?? EMPTY_ROOT;
  }
}

/** Returns the root over subtrees of equal size, of which the last may be smaller. RFC 6962 §2.1. */
function rootOf(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 1) return hashes[0];
  let split = 1;
  while (split * 2 < hashes.length) split *= 2;
  return nodeHash(rootOf(hashes.slice(0, split)), rootOf(hashes.slice(split)));
}
