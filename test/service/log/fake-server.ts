/** One server's log on a fake database and a fake state file. */
import assert from 'node:assert/strict';
import { parseVerifierKey } from '#tlog';
import {
  EMPTY_ROOT,
  newLogKeysText,
  parseLogKeys,
  signCheckpoint,
} from '../../../src/log/index.ts';
import { LogMacKeys } from '../../../src/proof/index.ts';
import { EntryJudge } from '../../../src/service/log/entry-judge.ts';
import { HeadSeals } from '../../../src/service/log/head-seal.ts';
import { Publisher } from '../../../src/service/log/publisher.ts';
import { Sequencer } from '../../../src/service/log/sequencer.ts';
import { ShownCheckpoints } from '../../../src/service/log/shown.ts';
import { StoredTiles } from '../../../src/service/log/tile-source.ts';
import { FakeLogStore } from './fake-store.ts';

export const ORIGIN = 'phm.invalid/0123456789abcdef';
export const KEYS = parseLogKeys(newLogKeysText(ORIGIN));
export const VERIFIER_KEYS = Object.values(KEYS.verifierKeys).map(parseVerifierKey);

const NOW_MS = 1_800_000_000_000;

/** The versions of the master secret that any server has registered. */
const REGISTERED: ReadonlySet<number> = new Set([1, 2]);

/** Returns the seals of a server with version 1 of the master secret, or with the given ones. */
export function sealsOf(...versions: readonly [number, ...number[]]): HeadSeals {
  const keys = versions.map((version) => ({ version, subkey: Buffer.alloc(32, version) }));
  const maker = { log: { origin: ORIGIN }, macs: new LogMacKeys(keys), version: versions[0] };
  return new HeadSeals(maker, async () => REGISTERED);
}

/** A state file in memory. */
export class FakeFile {
  readonly path = '/srv/phm.log-state';
  text: string | null = null;
  onWrite: () => void = () => {};
  onSync: () => void = () => {};
  writes = 0;
  /** What a loss of power would leave. */
  durable: string | null = null;
  /** True while a server compares and replaces it. */
  isLocked = false;

  read(): string | null {
    return this.text;
  }

  write(note: string): void {
    assert.ok(this.isLocked, 'a server writes it without the lock');
    this.onWrite();
    this.writes += 1;
    this.text = note;
    this.sync();
  }

  sync(): void {
    this.onSync();
    this.durable = this.text;
  }

  alone<T>(work: () => T): T {
    assert.ok(!this.isLocked, 'a server waits for itself');
    this.isLocked = true;
    try {
      return work();
    } finally {
      this.isLocked = false;
    }
  }
}

/** The file with what others showed, in memory. */
export class FakeShownFile {
  readonly path = '/srv/phm.log-state.seen';
  text: string | null = null;
  onWrite: () => void = () => {};

  read(): string | null {
    return this.text;
  }

  write(note: string): void {
    this.onWrite();
    this.text = note;
  }

  remove(): void {
    this.text = null;
  }
}

/** One server on a database and a state file. Every head that it serves is kept in `served`. */
export function startServer(
  store: FakeLogStore,
  file: FakeFile,
  served: string[] = [],
  {
    nowMs = NOW_MS,
    closedNote = '',
    seals = sealsOf(1),
    shownFile = new FakeShownFile(),
    askWitnesses = async (): Promise<readonly string[]> => [],
  } = {},
) {
  const tiles = new StoredTiles(store, 1);
  const publisher = new Publisher({
    origin: ORIGIN,
    verifierKeys: VERIFIER_KEYS,
    tiles,
    state: file,
    stored: async () => {
      const [record] = await store.logs();
      assert.ok(record);
      // Tests close the only log of the fake store where a rotation would start another.
      return { ...record, fault: store.fault };
    },
    seals,
    judgeClosed: async (note) =>
      note === closedNote ? { kind: 'ended', origin: 'closed.example/log', size: 1, end: 1 } : null,
    sign: (head, nowSeconds) => signCheckpoint(KEYS, head, nowSeconds),
    shown: new ShownCheckpoints({
      origin: ORIGIN,
      verifierKeys: VERIFIER_KEYS,
      tiles,
      file: shownFile,
    }),
    askWitnesses,
    save: async ({ size, note }) => {
      assert.equal(file.durable, file.text, 'no head is served before the file is durable');
      await store.saveCheckpoint(1, size, note, 'checkpoint');
      served.push(note);
    },
    nowMs: () => nowMs,
  });
  const macs = {
    versions: [1],
    verifies: (_version: number, _id: Uint8Array, _entry: Uint8Array, mac: Uint8Array) =>
      mac[0] === 1,
  };
  const judge = new EntryJudge(macs, async () => REGISTERED);
  return {
    publisher,
    sequencer: new Sequencer({ logId: 1, store, publisher, judge, seals }),
    served,
  };
}

export function newStore(): FakeLogStore {
  const { seal } = sealsOf(1).seal({ size: 0, root: EMPTY_ROOT });
  return new FakeLogStore(ORIGIN, Object.values(KEYS.verifierKeys).join('\n'), seal);
}
