/** The parts of a turn that both stores share: the right edge of a tree, and what happens to each entry. */
import { hash } from 'node:crypto';
import { SetupError } from '../errors.ts';
import type { PendingEntry } from './ledger-row.ts';
import type { Edge, Extend, Extension, HeadSeal, Turn } from './log-store.ts';
import { unavailable } from './unavailable.ts';

/** Hashes in a full tile. */
const TILE_WIDTH = 256;
const HASH_BYTES = 32;

/** End of `LogCounts`. */
export const MOST_COUNTED = 100_000;

/** A stored log as a turn finds it. */
export interface Head {
  readonly size: number;
  readonly root: Uint8Array;
  readonly seal: HeadSeal;
  readonly closedMs: number | null;
}

/** A pending entry, and whether a log already has an entry with its ID. */
export interface WaitingEntry {
  readonly pending: PendingEntry;
  readonly isLogged: boolean;
}

/** The place of the partial rightmost tile of a level; `width` may be 0. */
interface EdgeTile {
  readonly level: number;
  readonly index: number;
  readonly width: number;
}

/** Returns the rightmost tiles of a tree, from level 0 on (c2sp.org/tlog-tiles). */
export function edgeTiles(size: number): EdgeTile[] {
  const tiles: EdgeTile[] = [];
  for (let hashes = size; hashes > 0; hashes = Math.floor(hashes / TILE_WIDTH)) {
    const index = Math.floor(hashes / TILE_WIDTH);
    tiles.push({ level: tiles.length, index, width: hashes % TILE_WIDTH });
  }
  return tiles;
}

/**
 * Returns the edge of a tree. `entries` are those of the partial tile of level 0, `stored` returns a tile of
 * a higher level. A missing or short tile is passed on: the root of such an edge differs.
 */
export function edgeOf(
  { size, root, seal }: Head,
  entries: Uint8Array,
  stored: (tile: EdgeTile) => Uint8Array | null,
): Edge {
  const tiles = edgeTiles(size).map((tile) => {
    if (tile.level === 0) return leafHashes(entries);
    const hashes = tile.width === 0 ? null : stored(tile);
    return (hashes ?? new Uint8Array(0)).subarray(0, tile.width * HASH_BYTES);
  });
  return { size, root, seal, tiles };
}

/** Returns the first entry of the partial tile of level 0. */
export function edgeStart(size: number): number {
  return size - (size % TILE_WIDTH);
}

/** Returns the hash of each leaf, SHA-256(0x00 ‖ entry) (RFC 6962 §2.1). `entries` are 32 bytes each. */
function leafHashes(entries: Uint8Array): Buffer {
  const hashes = Buffer.alloc(entries.length);
  const leaf = Buffer.alloc(1 + HASH_BYTES, 0x00);
  for (let at = 0; at < entries.length; at += HASH_BYTES) {
    leaf.set(entries.subarray(at, at + HASH_BYTES), 1);
    // Text in between: a hash object takes several times as long (measured by bench/receipts.ts).
    hashes.write(hash('sha256', leaf, 'latin1'), at, 'latin1');
  }
  return hashes;
}

/** The root of an empty tree: SHA-256 of nothing (RFC 6962 §2.1). */
export function emptyRoot(): Buffer {
  return hash('sha256', '', 'buffer');
}

/** Splits the entries of a turn into those to append and those to set aside. */
export function judgeAll(
  waiting: readonly WaitingEntry[],
  turn: Turn,
): { readonly accepted: PendingEntry[]; readonly refused: PendingEntry[] } {
  const accepted: PendingEntry[] = [];
  const refused: PendingEntry[] = [];
  for (const { pending, isLogged } of waiting) {
    const isGood = !isLogged && fromCaller(() => turn.judge(pending));
    (isGood ? accepted : refused).push(pending);
  }
  return { accepted, refused };
}

/** Runs `extend` and checks the size of its result. */
export function extended(extend: Extend, edge: Edge, entries: readonly Uint8Array[]): Extension {
  return fromCaller(() => {
    const extension = extend(edge, entries);
    const expected = edge.size + entries.length;
    if (extension.size === expected) return extension;
    throw new RangeError(`extend returned a tree of ${extension.size} entries, not ${expected}`);
  });
}

/** An error of a function that the caller brought. */
class CallerError extends Error {}

function fromCaller<T>(call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw new CallerError('a function of the caller failed', { cause });
  }
}

/** Returns the error that a call of the log rejects with: the caller's own, or `ledger_unavailable`. */
export function asRejection(error: unknown): unknown {
  if (error instanceof CallerError) return error.cause;
  return error instanceof SetupError ? error : unavailable(error);
}

/** Throws `SetupError` because a log cannot start. */
export function refuseOrigin(origin: string): never {
  throw new SetupError(
    `the ledger already had a log with the origin ${origin}: its keys differ, or it is closed. Give the new log ` +
      'another origin',
  );
}

/** Throws `SetupError` because the log that a new one follows is not as expected. */
export function refuseFollowing(expected: number, open: Head | null): never {
  const found = open ? `its size is ${open.size}` : 'no log, or another one, is open';
  throw new SetupError(
    `the log to close should have ${expected} entries, but ${found}: publish its last checkpoint, then try again`,
  );
}
