/** The log at work, in simulated time: its pace, waiting receipts, stops and the end. */
import assert from 'node:assert/strict';
import { afterEach, describe, it, type TestContext } from 'node:test';
import { parseEntries } from '#tlog';
import { EMPTY_ROOT, signCheckpoint } from '../../../src/log/index.ts';
import type { ReceiptAnswer } from '../../../src/service/log/api.ts';
import { LogEngine } from '../../../src/service/log/engine.ts';
import type { LogNotice } from '../../../src/service/log/notices.ts';
import { pauseMs } from '../../../src/service/log/pace.ts';
import type { Receipts } from '../../../src/service/log/receipts.ts';
import { LogStopped } from '../../../src/service/log/stopped.ts';
import { StoredTiles } from '../../../src/service/log/tile-source.ts';
import { SimulatedTime } from '../../support/run/simulated-time.ts';
import { FakeFile, KEYS, newStore, sealsOf, startServer } from './fake-server.ts';

const RECEIPT: ReceiptAnswer = { kind: 'receipt', receipt: { statement: {}, proof: '' } };

const engines: LogEngine[] = [];
afterEach(() => Promise.all(engines.splice(0).map((engine) => engine.close())));

/** A running log. `find` answers requests for receipts; by default it proves what the published tree holds. */
function start(
  t: TestContext,
  {
    intervalMs = 250,
    stopped = null,
    find,
    upkeep = () => {},
  }: {
    readonly intervalMs?: number;
    readonly stopped?: string | null;
    readonly find?: unknown;
    readonly upkeep?: (mayWrite: () => boolean) => void;
  } = {},
) {
  const time = new SimulatedTime(t);
  const [store, file] = [newStore(), new FakeFile()];
  const { publisher, sequencer, served } = startServer(store, file);
  const notices: LogNotice[] = [];
  const byDefault = async () =>
    (publisher.published?.size ?? 0) > 0 ? RECEIPT : ({ kind: 'pending' } as const);
  const engine = new LogEngine({
    publisher,
    sequencer,
    receipts: { find: find ?? byDefault } as unknown as Receipts,
    tiles: new StoredTiles(store, 1),
    cosigning: null,
    state: file,
    intervalMs,
    upkeep: async (mayWrite) => upkeep(mayWrite),
    notify: (notice) => notices.push(notice),
    describe: (error) => (error as Error).message,
    stopped,
    checkMs: 50,
  });
  engines.push(engine);
  engine.start();
  return { time, store, file, engine, publisher, sequencer, served, notices };
}

/** Puts the stored head back to an empty tree, as a restored database would. Returns the contents before. */
function loseHead(store: ReturnType<typeof newStore>) {
  const whole = store.backup();
  const head = sealsOf(1).seal({ size: 0, root: EMPTY_ROOT });
  store.restore({ ...whole, record: { ...store.contents.record, ...head } });
  return whole;
}

describe('the pace of turns', () => {
  it('follows the interval with entries, is at most ten a second, and is slow without work', () => {
    const idle = { entriesWait: false, receiptsWait: false };
    const cases = [
      [250, idle, 2_000],
      [250, { entriesWait: true, receiptsWait: false }, 250],
      [250, { entriesWait: true, receiptsWait: true }, 100],
      [1_000, { entriesWait: false, receiptsWait: true }, 100],
      [1_001, { entriesWait: true, receiptsWait: true }, 1_001],
      [60_000, idle, 60_000],
    ] as const;
    for (const [intervalMs, work, expected] of cases) {
      assert.equal(pauseMs(intervalMs, work), expected, JSON.stringify([intervalMs, work]));
    }
  });
});

describe('a running log', () => {
  it('publishes what was recorded, without a request', async (t) => {
    const { time, store, engine, publisher, notices } = start(t, { intervalMs: 100 });
    await time.until('a head is published', () => publisher.published !== null);
    store.add();
    engine.recorded();
    await time.until('a head of 1 is published', () => publisher.published?.size === 1);
    const published = notices.filter(({ kind }) => kind === 'published');
    assert.equal(published.length, 2);
  });

  it('hastens a head for a receipt, and gives it one that began later', async (t) => {
    const { time, store, engine, publisher } = start(t, { intervalMs: 1_000 });
    await time.until('a head is published', () => publisher.published !== null);
    // The turn of the start is the first of the ten in its second.
    await time.advance(50);
    store.add();
    const receipt = engine.receipt('phm_1', 'acct', 20_000);
    await time.advance(49);
    assert.equal(publisher.published?.size, 0);
    await time.advance(1);
    assert.equal(publisher.published?.size, 1);
    assert.deepEqual(await receipt, RECEIPT);
  });

  it('publishes at most ten heads a second, however many receipts wait', async (t) => {
    const { time, store, engine, served } = start(t);
    const client = async () => {
      while (time.nowMs < 1_000) {
        store.add();
        await engine.receipt('phm_1', 'acct', 20_000);
      }
    };
    await time.settle(Promise.all(Array.from({ length: 50 }, client)));
    // The first turn, after a millisecond, publishes the empty log too.
    assert.deepEqual([time.nowMs, served.length], [1_001, 1 + 11]);
  });

  it('answers pending once the time is over', async (t) => {
    const { time, store, engine } = start(t, { intervalMs: 100 });
    store.onCall = (name) => {
      if (name === 'takeTurn') throw new Error('the database is away');
    };
    assert.deepEqual(await time.settle(engine.receipt('phm_1', 'acct', 200)), { kind: 'pending' });
  });

  it('forgets receipts whose time is over, however long it is delayed', async (t) => {
    const { time, store, engine, notices } = start(t, { intervalMs: 100 });
    const delays = () => notices.filter(({ kind }) => kind === 'delayed').length;
    store.onCall = () => {
      throw new Error('the database is away');
    };
    engine.recorded();
    await time.until('it says delayed', () => delays() === 1);
    const requests = Array.from({ length: 100 }, () => engine.receipt('phm_1', 'acct', 10));
    await time.settle(Promise.all(requests));
    const ended = t.mock.method(globalThis, 'clearTimeout');
    store.onCall = () => {};
    await time.until('it says delayed', () => delays() === 2);
    assert.ok(ended.mock.callCount() < 100, 'the next turn finds them no more');
  });

  it('asks once for a later fetch', async (t) => {
    const asked: string[] = [];
    const find = async (keyId: string) => {
      asked.push(keyId);
      return { kind: 'pending' };
    };
    const { time, engine } = start(t, { find });
    assert.deepEqual(await time.settle(engine.receipt('phm_1', 'acct', 0)), { kind: 'pending' });
    assert.deepEqual(asked, ['phm_1']);
  });

  it('says once that it is delayed, and once that it is not', async (t) => {
    const { time, store, engine, notices } = start(t, { intervalMs: 100 });
    store.onCall = () => {
      throw new Error('the database is away');
    };
    engine.recorded();
    await time.until('it says delayed', () => notices.some(({ kind }) => kind === 'delayed'));
    store.onCall = () => {};
    await time.until(
      'it says delayed again',
      () => notices.filter(({ kind }) => kind === 'delayed').length === 2,
    );
    const delays = notices.flatMap((one) => (one.kind === 'delayed' ? one.reason : []));
    assert.deepEqual(delays, ['the database is away', null]);
  });

  it('says again that it is delayed, once the reason is another', async (t) => {
    const { time, store, file, engine, notices } = start(t, { intervalMs: 100 });
    const reasons = () => notices.flatMap((one) => (one.kind === 'delayed' ? one.reason : []));
    store.onCall = () => {
      throw new Error('the database is away');
    };
    engine.recorded();
    await time.until('it says delayed', () => reasons().length === 1);
    store.onCall = () => {};
    file.onWrite = () => {
      throw new Error('the disk is full');
    };
    await time.until('it says delayed', () => reasons().length === 2);
    file.onWrite = () => {};
    await time.until('it says delayed', () => reasons().length === 3);
    assert.deepEqual(reasons(), ['the database is away', 'the disk is full', null]);
  });

  it('serves each head of a backlog, and answers receipts meanwhile', async (t) => {
    const { time, store, engine, publisher, notices } = start(t, { intervalMs: 100 });
    for (let i = 0; i < 2 * 4_096 + 1; i++) store.add();
    const atAnswer = engine
      .receipt('phm_1', 'acct', 10_000)
      .then(() => store.contents.pending.length);
    await time.until('no entry waits', () => store.contents.pending.length === 0);
    await time.until('a head of all is published', () => publisher.published?.size === 8_193);
    const sizes = notices.flatMap((one) => (one.kind === 'published' ? one.size : []));
    assert.deepEqual(sizes, [4_096, 8_192, 8_193]);
    assert.equal(await atAnswer, 4_097);
  });

  it('ends its rests when a receipt waits', async (t) => {
    const { time, store, engine, publisher } = start(t, { intervalMs: 1_000 });
    await time.until('a head is published', () => publisher.published !== null);
    for (let i = 0; i < 256 + 1; i++) store.add();
    store.onCall = (name) => {
      if (name === 'commit') time.pass(150);
    };
    engine.recorded();
    const { entries } = store.contents;
    await time.until('the first transaction', () => entries.length === 256);
    store.onCall = () => {};
    // Without a receipt, a rest of 600 ms follows.
    await time.advance(500);
    assert.equal(entries.length, 256);
    const receipt = engine.receipt('phm_1', 'acct', 20_000);
    await time.advance(0);
    assert.equal(entries.length, 257);
    assert.deepEqual(await time.settle(receipt), RECEIPT);
  });

  it('ends a turn at its next rest if the ledger is found damaged', async (t) => {
    const { time, store, engine, publisher, notices } = start(t, { intervalMs: 1_000 });
    await time.until('a head is published', () => publisher.published !== null);
    for (let i = 0; i < 3 * 256; i++) store.add();
    store.onCall = (name) => {
      if (name === 'committed') setImmediate(() => engine.condemn('a row is missing'));
    };
    engine.recorded();
    await time.until('it says stopped', () => notices.some(({ kind }) => kind === 'stopped'));
    await engine.close();
    assert.deepEqual([store.contents.record.size, publisher.published?.size], [256, 0]);
    assert.equal(notices.filter(({ kind }) => kind === 'stopped').length, 1);
  });

  it('publishes nothing if the ledger is found damaged in the last transaction of a turn', async (t) => {
    const { time, store, engine, publisher, served, notices } = start(t, { intervalMs: 50 });
    await time.until('a head is published', () => publisher.published !== null);
    const before = served.length;
    store.add();
    store.onCall = (name) => {
      if (name === 'committed') engine.condemn('a row is missing');
    };
    engine.recorded();
    await time.until('it says stopped', () => notices.some(({ kind }) => kind === 'stopped'));
    await engine.close();
    assert.deepEqual([store.contents.record.size, served.length], [1, before]);
    assert.deepEqual(await engine.tile(0, 0, 1), { kind: 'stopped' });
  });

  it('takes and writes nothing more once the ledger was found damaged', async (t) => {
    let upkeeps = 0;
    const { time, store, engine, publisher } = start(t, {
      intervalMs: 50,
      upkeep: () => (upkeeps += 1),
    });
    await time.until('a head is published', () => publisher.published !== null);
    store.add();
    engine.recorded();
    engine.condemn('a row is missing');
    const [turns, kept] = [store.turns, upkeeps];
    await time.advance(1_000);
    await engine.close();
    assert.deepEqual([store.turns, upkeeps], [turns, kept]);
  });

  it('answers stopped if the ledger is found damaged while a receipt is read', async (t) => {
    const { promise, resolve } = Promise.withResolvers<ReceiptAnswer>();
    const { time, engine, publisher } = start(t, { find: () => promise });
    await time.until('a head is published', () => publisher.published !== null);
    const answer = engine.receipt('phm_1', 'acct', 0);
    engine.condemn('a row is missing');
    resolve(RECEIPT);
    assert.deepEqual(await answer, { kind: 'stopped' });
  });

  it('answers stopped if the ledger is found damaged while a tile is read', async (t) => {
    const { time, store, engine, publisher } = start(t, { intervalMs: 50 });
    store.add();
    await time.until('a head of 1 is published', () => publisher.published?.size === 1);
    const tile = engine.tile(0, 0, 1);
    engine.condemn('a row is missing');
    assert.deepEqual(await tile, { kind: 'stopped' });
  });

  it('lets upkeep in progress write nothing once the ledger was found damaged', async (t) => {
    const asked: (() => boolean)[] = [];
    const { time, engine } = start(t, { upkeep: (mayWrite) => asked.push(mayWrite) });
    await time.until('upkeep has begun', () => asked.length > 0);
    assert.equal(asked[0]?.(), true);
    engine.condemn('a row is missing');
    assert.equal(asked[0]?.(), false);
  });

  it('takes all turns of a backlog when it closes', async (t) => {
    const { time, store, engine, publisher } = start(t, { intervalMs: 60_000 });
    await time.until('a head is published', () => publisher.published !== null);
    for (let i = 0; i < 4_096 + 1; i++) store.add();
    await engine.close();
    assert.equal(publisher.published?.size, 4_097);
  });

  it('serves tiles and entries up to the published head', async (t) => {
    const { time, store, engine, publisher } = start(t, { intervalMs: 100 });
    for (let i = 0; i < 300; i++) store.add();
    await time.until('a head of 300 is published', () => publisher.published?.size === 300);
    for (const [level, index, width] of [
      [0, 0, 256],
      [0, 1, 44],
      [0, 1, 7],
      [1, 0, 1],
    ] as const) {
      const answer = await engine.tile(level, index, width);
      assert.equal(answer.kind === 'bytes' && answer.bytes.length, width * 32);
    }
    const bundle = await engine.entries(1, 44);
    assert.deepEqual(
      bundle.kind === 'bytes' && parseEntries(bundle.bytes).map((one) => Buffer.from(one)),
      store.contents.entries.slice(256).map((one) => Buffer.from(one)),
    );
    for (const [level, index, width] of [
      [0, 1, 45],
      [0, 2, 1],
      [1, 0, 2],
      [2, 0, 1],
      [5, 2 ** 40, 256],
    ] as const) {
      assert.deepEqual(await engine.tile(level, index, width), { kind: 'absent' });
    }
    assert.deepEqual(await engine.entries(1, 45), { kind: 'absent' });
  });

  it('takes a last turn when it closes', async (t) => {
    const { time, store, engine, publisher } = start(t, { intervalMs: 60_000 });
    await time.until('a head is published', () => publisher.published !== null);
    store.add();
    await engine.close();
    assert.equal(publisher.published?.size, 1);
  });

  it('stops on a fork, lets waiting receipts go, and resumes once the state file was repaired', async (t) => {
    const { time, store, file, engine, publisher, notices } = start(t, { intervalMs: 100 });
    store.add();
    await time.until('a head of 1 is published', () => publisher.published?.size === 1);
    const head = sealsOf(1).seal({ size: 0, root: EMPTY_ROOT });
    store.restore({
      ...store.backup(),
      // A backup has the checkpoint of its time.
      record: { ...store.contents.record, ...head, checkpoint: null },
    });
    assert.deepEqual(await time.settle(engine.receipt('phm_1', 'acct', 2_000)), {
      kind: 'stopped',
    });
    assert.deepEqual(await engine.tile(0, 0, 1), { kind: 'stopped' });
    const stop = notices.find(({ kind }) => kind === 'stopped');
    assert.match(stop?.kind === 'stopped' ? stop.reason : '', /but 1 were published/);
    const turns = store.turns;
    await time.advance(1_000);
    assert.equal(store.turns, turns, 'it takes no turn');
    file.text = signCheckpoint(KEYS, { size: 0, root: EMPTY_ROOT }, 1);
    store.contents.entries = [];
    store.contents.tiles.clear();
    store.add();
    await time.until('it says resumed', () => notices.some(({ kind }) => kind === 'resumed'));
    await time.until('a head of 1 is published', () => publisher.published?.size === 1);
  });

  it('stays stopped after a fork, although a later turn would succeed', async (t) => {
    const { time, store, engine, publisher, sequencer, served, notices } = start(t, {
      intervalMs: 50,
    });
    await time.until('a head is published', () => publisher.published !== null);
    const forked = t.mock.method(sequencer, 'turn', async () => {
      throw new LogStopped('the log has forked', 'forked');
    });
    store.add();
    engine.recorded();
    await time.until('it says stopped', () => notices.some(({ kind }) => kind === 'stopped'));
    forked.mock.restore();
    const before = served.length;
    await time.advance(1_000);
    const resumed = notices.filter(({ kind }) => kind === 'resumed');
    assert.deepEqual([resumed.length, served.length], [0, before]);
    assert.deepEqual(await engine.tile(0, 0, 1), { kind: 'stopped' });
    await assert.rejects(publisher.publish(), LogStopped);
  });

  it('stops when the database moves, and resumes by itself once an operator accepts that', async (t) => {
    const { time, store, engine, publisher, notices } = start(t, { intervalMs: 100 });
    store.add();
    await time.until('a head of 1 is published', () => publisher.published?.size === 1);
    store.contents.record = { ...store.contents.record, isMoved: true };
    store.add();
    assert.deepEqual(await time.settle(engine.receipt('phm_1', 'acct', 2_000)), {
      kind: 'stopped',
    });
    const turns = store.turns;
    await time.advance(1_000);
    assert.equal(store.turns, turns, 'it takes no turn');
    store.contents.record = { ...store.contents.record, isMoved: false };
    await time.until('a head of 2 is published', () => publisher.published?.size === 2);
    const kinds = notices.map(({ kind }) => kind).filter((kind) => /stopped|resumed/.test(kind));
    assert.deepEqual(kinds, ['stopped', 'resumed']);
  });

  it('stays stopped without a word while a new state file shows the same fault', async (t) => {
    const { time, store, file, engine, publisher, notices } = start(t, { intervalMs: 100 });
    store.add();
    await time.until('a head of 1 is published', () => publisher.published?.size === 1);
    const whole = loseHead(store);
    assert.deepEqual(await time.settle(engine.receipt('phm_1', 'acct', 2_000)), {
      kind: 'stopped',
    });
    const { root } = publisher.published ?? { root: EMPTY_ROOT };
    for (const second of [1, 2, 3]) {
      file.text = signCheckpoint(KEYS, { size: 1, root }, second);
      await time.advance(1_000);
    }
    const kinds = () => notices.map(({ kind }) => kind);
    const before = kinds().length;
    assert.deepEqual([kinds().indexOf('stopped'), kinds().at(-1)], [before - 1, 'stopped']);
    file.text = signCheckpoint(KEYS, { size: 1, root }, 4);
    store.restore(whole);
    await time.until('it says resumed', () => kinds().includes('resumed'));
    assert.deepEqual(kinds().slice(before), ['resumed', 'published']);
  });

  it('resumes by itself once the missing entries are back, though its state file stays', async (t) => {
    const { time, store, publisher, notices } = start(t, { intervalMs: 100 });
    store.add();
    await time.until('a head of 1 is published', () => publisher.published?.size === 1);
    const whole = loseHead(store);
    await time.until('it says stopped', () => notices.at(-1)?.kind === 'stopped');
    await time.advance(1_000);
    store.restore(whole);
    await time.until('it says resumed', () => notices.some(({ kind }) => kind === 'resumed'));
    store.add();
    await time.until('a head of 2 is published', () => publisher.published?.size === 2);
  });

  it('names the head again after a stop that changed nothing', async (t) => {
    const { time, store, publisher, notices } = start(t, { intervalMs: 100 });
    store.add();
    await time.until('a head of 1 is published', () => publisher.published?.size === 1);
    store.contents.record = { ...store.contents.record, isMoved: true };
    await time.until('it says stopped', () => notices.at(-1)?.kind === 'stopped');
    store.contents.record = { ...store.contents.record, isMoved: false };
    await time.until('it says resumed', () => notices.some(({ kind }) => kind === 'resumed'));
    await time.until('it says published', () => notices.at(-1)?.kind === 'published');
  });

  it('stays stopped without keys', async (t) => {
    const { time, store, file, engine, notices } = start(t, { stopped: 'the keys are missing' });
    file.text = signCheckpoint(KEYS, { size: 0, root: EMPTY_ROOT }, 1);
    await time.advance(1_000);
    assert.equal(store.turns, 0);
    assert.deepEqual(notices, [{ kind: 'stopped', reason: 'the keys are missing', halt: null }]);
    assert.deepEqual(await time.settle(engine.receipt('phm_1', 'acct', 100)), { kind: 'stopped' });
  });

  it('answers stopped on a damaged ledger', async (t) => {
    const { engine } = start(t);
    engine.condemn('page 3 is wrong');
    assert.deepEqual(await engine.receipt('phm_1', 'acct', 0), { kind: 'stopped' });
  });
});
