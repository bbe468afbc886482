/** A log in memory, with the transactions and failures of a database. */
import { randomBytes } from 'node:crypto';
import type {
  Edge,
  HeadSeal,
  LogRecord,
  LogRowFault,
  PendingEntry,
  Tile,
  Turn,
  TurnOutcome,
} from '../../../src/ledger/index.ts';
import { EMPTY_ROOT, leafHash } from '../../../src/log/index.ts';

const TILE_WIDTH = 256;
const HASH_BYTES = 32;

/** Contents of the database, which a test may copy and put back. */
interface Contents {
  entries: Uint8Array[];
  entryIds: Uint8Array[];
  pending: PendingEntry[];
  setAside: PendingEntry[];
  tiles: Map<string, Uint8Array>;
  record: LogRecord;
}

export class FakeLogStore {
  contents: Contents;
  /** Called at the start of each operation by name; it may throw, as a database does. */
  onCall: (name: string) => void = () => {};
  turns = 0;
  /** What the rows of the logs show that no server writes. */
  fault: LogRowFault | null = null;

  constructor(origin: string, verifierKeys: string, seal: HeadSeal) {
    this.contents = {
      entries: [],
      entryIds: [],
      pending: [],
      setAside: [],
      tiles: new Map(),
      record: {
        logId: 1,
        origin,
        verifierKeys,
        startedMs: 0,
        closedMs: null,
        size: 0,
        root: EMPTY_ROOT,
        seal,
        checkpoint: null,
        witnessed: null,
        isMoved: false,
      },
    };
  }

  /** Adds an entry as a key's transaction does. Returns its ID. */
  add(entry: Uint8Array = randomBytes(HASH_BYTES)): Uint8Array {
    const entryId = randomBytes(16);
    this.contents.pending.push({
      entryId,
      logId: 1,
      kind: 'key',
      entry,
      mac: Buffer.alloc(HASH_BYTES, 1),
      secretVersion: 1,
    });
    return entryId;
  }

  backup(): Contents {
    return structuredClone(this.contents);
  }

  restore(contents: Contents): void {
    this.contents = structuredClone(contents);
  }

  async logs(): Promise<LogRecord[]> {
    this.onCall('logs');
    return [structuredClone(this.contents.record)];
  }

  async takeTurn({ limit, judge, extend }: Turn): Promise<TurnOutcome> {
    this.onCall('takeTurn');
    this.turns += 1;
    const { contents } = this;
    const taken = contents.pending.slice(0, limit);
    const good = taken.filter(judge);
    const extension = extend(
      this.#edge(),
      good.map(({ entry }) => entry),
    );
    this.onCall('commit');
    contents.pending = contents.pending.slice(taken.length);
    contents.setAside.push(...taken.filter((one) => !good.includes(one)));
    contents.entries.push(...good.map(({ entry }) => entry));
    contents.entryIds.push(...good.map(({ entryId }) => entryId));
    for (const { level, index, hashes } of extension.tiles as Tile[]) {
      contents.tiles.set(`${level}/${index}`, hashes);
    }
    const { size, root, seal } = extension;
    contents.record = { ...contents.record, size, root, seal };
    this.onCall('committed');
    const setAside = taken.length - good.length;
    return { appended: good.length, setAside, more: taken.length === limit, size, root };
  }

  async readTile(_logId: number, level: number, index: number): Promise<Uint8Array | null> {
    this.onCall('readTile');
    return this.contents.tiles.get(`${level}/${index}`) ?? null;
  }

  async readEntries(_logId: number, from: number, to: number): Promise<Uint8Array> {
    this.onCall('readEntries');
    return Buffer.concat(this.contents.entries.slice(from, to));
  }

  async saveCheckpoint(
    _logId: number,
    _size: number,
    note: string,
    kind: 'checkpoint' | 'witnessed',
  ): Promise<void> {
    this.onCall('saveCheckpoint');
    this.contents.record = { ...this.contents.record, [kind]: note };
  }

  #edge(): Edge {
    const { size, root, seal } = this.contents.record;
    const tiles: Uint8Array[] = [];
    for (let level = 0; TILE_WIDTH ** level <= size; level++) {
      const hashes = Math.floor(size / TILE_WIDTH ** level);
      const width = hashes % TILE_WIDTH;
      const index = Math.floor(hashes / TILE_WIDTH);
      tiles.push(width === 0 ? new Uint8Array() : this.#partialTile(level, index, width));
    }
    return { size, root, seal, tiles };
  }

  #partialTile(level: number, index: number, width: number): Uint8Array {
    if (level > 0) {
      const tile = this.contents.tiles.get(`${level}/${index}`) ?? new Uint8Array();
      return tile.subarray(0, width * HASH_BYTES);
    }
    const entries = this.contents.entries.slice(index * TILE_WIDTH, index * TILE_WIDTH + width);
    return Buffer.concat(entries.map(leafHash));
  }
}
