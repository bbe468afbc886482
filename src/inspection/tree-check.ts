/**
 * Reads a whole log, recomputes its tree from the entries, and compares every tile and known checkpoint with it.
 *
 * Consistency needs no proof: the tree passes through the size of each earlier checkpoint. Memory holds a few bundles
 * and one tile per level, at every size of the log.
 */
import { type Checkpoint, TILE_WIDTH, tilePath } from '#tlog';
import type { FindingKind, Findings } from '../ledger/admin.ts';
import { leafHash } from '../log/index.ts';
import type { LogSource } from './log-source.ts';
import { type FullTile, RunningTree } from './running-tree.ts';

/** A checkpoint that the tree must contain, and the finding if it does not. */
export interface Mark {
  readonly checkpoint: Pick<Checkpoint, 'size' | 'root'>;
  readonly kind: FindingKind;
  /** Names the checkpoint in the finding. */
  readonly example: string;
}

/** Keeps what is read of a log. */
export interface TreeCopy {
  keepEntries(index: number, entries: readonly Uint8Array[]): void;
  keepTile(level: number, index: number, hashes: Uint8Array): void;
}

interface TreeOrder {
  readonly source: LogSource;
  /** The number of entries to read. */
  readonly size: number;
  readonly marks: readonly Mark[];
  readonly findings: Findings;
  readonly signal: AbortSignal;
  /** Gets every entry in order. */
  readonly onEntry?: (index: number, entry: Uint8Array) => void;
  readonly onProgress?: (entries: number) => void;
  readonly copy?: TreeCopy | null;
}

/** Bundles that are fetched at the same time. */
const FETCHES = 8;

const MISSING: FindingKind = {
  problem: 'entries of the log cannot be read',
  remedy: 'The log lost them, or they were cut: restore them from a copy of the log.',
};
const WRONG_LEAF: FindingKind = {
  problem: 'entries of the log do not match their tile',
  remedy: 'The entry or the tile was changed. Compare both with a copy of the log.',
};
const WRONG_TILE: FindingKind = {
  problem: 'tiles of the log do not match its entries',
  remedy: 'The tile was changed or lost. Compare it with a copy of the log.',
};

/** Returns the root over all entries; null if they could not be read to the end. */
export async function checkTree(order: TreeOrder): Promise<Uint8Array | null> {
  const { source, size, findings, signal, copy } = order;
  const tree = new RunningTree();
  checkMarks(order, tree);
  const bundles = Math.ceil(size / TILE_WIDTH);
  const widthOf = (index: number) => Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
  const read = (index: number) => readBundle(source, index, widthOf(index));
  for await (const { index, entries, hashes } of inOrder(bundles, read)) {
    signal.throwIfAborted();
    if (entries === null) {
      findings.add(MISSING, `entry ${index * TILE_WIDTH} and those after it`);
      return null;
    }
    compareLeaves(order, index, entries, hashes);
    copy?.keepEntries(index, entries);
    const completed = entries.flatMap((entry, i) => {
      order.onEntry?.(index * TILE_WIDTH + i, entry);
      const tiles = tree.append(entry);
      checkMarks(order, tree);
      return tiles;
    });
    await compareTiles(order, completed);
    order.onProgress?.(tree.size);
  }
  await compareTiles(order, tree.partialTiles());
  return tree.root();
}

interface Bundle {
  readonly index: number;
  readonly entries: readonly Uint8Array[] | null;
  /** The tile of level 0 with the hashes of these entries. */
  readonly hashes: Uint8Array | null;
}

async function readBundle(source: LogSource, index: number, width: number): Promise<Bundle> {
  const [entries, hashes] = await Promise.all([
    source.entries(index, width),
    source.tile(0, index, width),
  ]);
  return { index, entries, hashes };
}

/** Yields the results for 0 to `count` − 1 in order, while later ones are fetched. */
async function* inOrder<T>(
  count: number,
  fetchOne: (index: number) => Promise<T>,
): AsyncGenerator<T> {
  const waiting: Promise<T>[] = [];
  for (let next = 0; next < count || waiting.length > 0; ) {
    while (next < count && waiting.length < FETCHES) {
      const one = fetchOne(next++);
      // The consumer sees the rejection when it comes to this result, if it does.
      one.catch(() => {});
      waiting.push(one);
    }
    yield await (waiting.shift() as Promise<T>);
  }
}

function checkMarks({ marks, findings }: TreeOrder, tree: RunningTree): void {
  for (const { checkpoint, kind, example } of marks) {
    if (checkpoint.size !== tree.size) continue;
    if (Buffer.compare(checkpoint.root, tree.root()) !== 0) findings.add(kind, example);
  }
}

/** Names each entry whose hash is not in the tile. */
function compareLeaves(
  { findings }: TreeOrder,
  index: number,
  entries: readonly Uint8Array[],
  hashes: Uint8Array | null,
): void {
  if (hashes === null) {
    findings.add(WRONG_TILE, tilePath(0, index, entries.length));
    return;
  }
  for (const [i, entry] of entries.entries()) {
    if (leafHash(entry).equals(hashes.subarray(32 * i, 32 * (i + 1)))) continue;
    findings.add(WRONG_LEAF, `entry ${index * TILE_WIDTH + i}`);
  }
}

/** Compares tiles above level 0 with those of the log, and keeps all. */
async function compareTiles(order: TreeOrder, tiles: readonly FullTile[]): Promise<void> {
  for (const { level, index, hashes } of tiles) {
    const bytes = Buffer.concat(hashes);
    order.copy?.keepTile(level, index, bytes);
    if (level === 0) continue;
    const found = await order.source.tile(level, index, hashes.length);
    if (found !== null && bytes.equals(found)) continue;
    order.findings.add(WRONG_TILE, tilePath(level, index, hashes.length));
  }
}
