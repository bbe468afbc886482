/** Reads a log from the database of the service. */
import { type Checkpoint, TILE_WIDTH } from '#tlog';
import type { LogRecord, LogStore } from '../ledger/index.ts';
import { leafHash, rootAt, type TileSource } from '../log/index.ts';
import type { LogSource } from './log-source.ts';

const HASH_BYTES = 32;

export function storeSource(store: LogStore, log: LogRecord): LogSource {
  const readEntries = async (index: number, width: number) => {
    const first = index * TILE_WIDTH;
    const bytes = await store.readEntries(log.logId, first, first + width);
    return bytes.length < width * HASH_BYTES ? null : splitHashes(bytes);
  };
  return {
    async tile(level, index, width) {
      // The database stores no partial tile of level 0.
      if (level === 0 && width < TILE_WIDTH) {
        const entries = await readEntries(index, width);
        return entries && Buffer.concat(entries.map((entry) => leafHash(entry)));
      }
      const hashes = await store.readTile(log.logId, level, index);
      if (!hashes || hashes.length < width * HASH_BYTES) return null;
      return hashes.subarray(0, width * HASH_BYTES);
    },
    entries: readEntries,
  };
}

/** Splits a string of hashes. */
function splitHashes(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, i) =>
    bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES),
  );
}

/** A tile that a proof needs is missing from the database. */
class MissingTile extends Error {}

/** Returns the tiles of a log for proofs. */
export function storeTiles(store: LogStore, log: LogRecord): TileSource {
  const source = storeSource(store, log);
  return {
    async tile(level, index, width) {
      const hashes = await source.tile(level, index, width);
      if (hashes) return hashes;
      throw new MissingTile(`the database lacks tile ${index} of level ${level}`);
    },
  };
}

type Head = Pick<Checkpoint, 'size' | 'root'>;

/** Reports whether the stored tiles have the root of `to`, and contain the tree of `from`; null: any tree. */
export async function continues(tiles: TileSource, from: Head | null, to: Head): Promise<boolean> {
  try {
    for (const head of from === null ? [to] : [from, to]) {
      if (head.size > to.size) return false;
      if (!(await rootAt(tiles, head.size)).equals(head.root)) return false;
    }
    return true;
  } catch (error) {
    if (error instanceof MissingTile) return false;
    throw error;
  }
}
