/** Tiles of one log on two servers: clients behind a load balancer get a checkpoint from one and tiles from the other. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { EMPTY_ROOT, signCheckpoint } from '../../../src/log/index.ts';
import { LogEngine } from '../../../src/service/log/engine.ts';
import type { Receipts } from '../../../src/service/log/receipts.ts';
import { StoredTiles } from '../../../src/service/log/tile-source.ts';
import { FakeFile, KEYS, newStore, startServer } from './fake-server.ts';
import type { FakeLogStore } from './fake-store.ts';

/** A server that takes turns when told. */
function join(store: FakeLogStore) {
  const state = new FakeFile();
  const { publisher, sequencer } = startServer(store, state);
  const engine = new LogEngine({
    publisher,
    sequencer,
    receipts: {} as Receipts,
    tiles: new StoredTiles(store, 1),
    cosigning: null,
    state,
    intervalMs: 1_000,
    upkeep: async () => {},
    notify: () => {},
    describe: (error) => (error as Error).message,
    stopped: null,
  });
  return { engine, publisher, sequencer, state };
}

const ABSENT = { kind: 'absent' };

/** Tiles of a log of 560 entries that a log of 550 entries lacks. */
const NEWER = [
  [0, 2, 48],
  [0, 1, 256],
  [1, 0, 2],
] as const;

describe('a server behind the checkpoint of another', () => {
  let store: FakeLogStore;
  let ahead: ReturnType<typeof join>;
  let behind: ReturnType<typeof join>;
  const add = (count: number) => {
    for (let i = 0; i < count; i++) store.add();
  };
  beforeEach(async () => {
    store = newStore();
    [ahead, behind] = [join(store), join(store)];
    await ahead.sequencer.turn();
    behind.state.text = ahead.state.text;
    add(300);
    await behind.sequencer.turn();
    add(260);
    await ahead.sequencer.turn();
    assert.deepEqual(
      [ahead.publisher.published?.size, behind.publisher.published?.size],
      [560, 300],
    );
  });

  it('has the same tiles and entries', async () => {
    for (const [level, index, width] of NEWER) {
      const expected = await ahead.engine.tile(level, index, width);
      assert.equal(expected.kind === 'bytes' && expected.bytes.length, 32 * width);
      assert.deepEqual(await behind.engine.tile(level, index, width), expected);
    }
    const bundle = await ahead.engine.entries(2, 48);
    assert.equal(bundle.kind, 'bytes');
    assert.deepEqual(await behind.engine.entries(2, 48), bundle);
  });

  it('gives a shorter partial tile as the beginning of a longer one', async () => {
    const [short, long] = [await behind.engine.tile(0, 2, 7), await ahead.engine.tile(0, 2, 48)];
    assert.ok(short.kind === 'bytes' && long.kind === 'bytes');
    assert.deepEqual(short.bytes, long.bytes.subarray(0, 7 * 32));
  });

  it('has no entry that no checkpoint covers', async () => {
    add(10);
    store.onCall = (name) => {
      if (name === 'saveCheckpoint') throw new Error('the database is away');
    };
    await assert.rejects(ahead.sequencer.turn(), /the database is away/);
    store.onCall = () => {};
    assert.equal(store.contents.record.size, 570);
    for (const { engine } of [ahead, behind]) {
      assert.deepEqual(await engine.tile(0, 2, 49), ABSENT);
      assert.deepEqual(await engine.entries(2, 49), ABSENT);
      assert.deepEqual(await engine.tile(0, 3, 1), ABSENT);
    }
  });

  it('believes no stored checkpoint without the signatures of the log', async () => {
    const forged = (note: string) => {
      store.contents.record = { ...store.contents.record, checkpoint: note };
    };
    const note = store.contents.record.checkpoint ?? '';
    for (const bad of [note.replace('\n560\n', '\n561\n'), 'x']) {
      forged(bad);
      for (const [level, index, width] of NEWER) {
        assert.deepEqual(await behind.engine.tile(level, index, width), ABSENT);
      }
    }
    const before = signCheckpoint(KEYS, { size: 0, root: EMPTY_ROOT }, 1);
    forged(before);
    assert.deepEqual(await behind.engine.tile(0, 2, 48), ABSENT);
    forged(note);
    assert.equal((await behind.engine.tile(0, 2, 48)).kind, 'bytes');
  });

  it('says that the database is away, not that the tile is absent', async () => {
    store.onCall = (name) => {
      if (name === 'logs') throw new Error('the database is away');
    };
    await assert.rejects(behind.engine.tile(0, 2, 48), /the database is away/);
  });

  it('asks the database for the newest checkpoint only when its own lacks the tile', async () => {
    let asked = 0;
    store.onCall = (name) => {
      if (name === 'logs') asked += 1;
    };
    await behind.engine.tile(0, 1, 44);
    assert.equal(asked, 0);
    await behind.engine.tile(0, 2, 48);
    assert.equal(asked, 1);
  });

  it('asks once for all requests that wait, and again for those that come meanwhile', async () => {
    let asked = 0;
    store.onCall = (name) => {
      if (name === 'logs') asked += 1;
    };
    const flood = () => Array.from({ length: 50 }, () => behind.engine.tile(0, 9, 1));
    const waiting = flood();
    await Promise.race(waiting);
    await Promise.all([...waiting, ...flood()]);
    assert.ok(asked <= 3, `${asked} queries`);
    assert.equal((await behind.engine.tile(0, 2, 48)).kind, 'bytes');
  });

  it('sees a checkpoint that is newer than a question on its way', async () => {
    const before = behind.engine.tile(0, 2, 49);
    add(1);
    await ahead.sequencer.turn();
    assert.equal((await behind.engine.tile(0, 2, 49)).kind, 'bytes');
    await before;
  });
});
