/** Long polls wait without a query of their own: one query a second asks for all, and a delivery here wakes its own at once. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, type Mock, mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { AppError } from '../../../src/errors.ts';
import type { WaitingQuery } from '../../../src/ledger/index.ts';
import { BoxWaits } from '../../../src/service/deliveries/box-waits.ts';

const box = (accountId = 'acct', recipient = 'paris'): WaitingQuery => ({
  ...{ accountId, recipient, afterKeyId: null },
});

type Poll = (boxes: readonly WaitingQuery[]) => Promise<readonly boolean[]>;

describe('requests that wait for a copy', () => {
  let poll: Mock<Poll>;
  let waits: BoxWaits;
  let ended: string[];

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    poll = mock.fn<Poll>(async (boxes) => boxes.map(() => false));
    waits = new BoxWaits(poll);
    ended = [];
  });
  afterEach(() => mock.timers.reset());

  /** Begins to wait, and notes the end under a name. */
  function wait(name: string, query = box(), ms = 30_000, signal = new AbortController().signal) {
    void waits.wait(query, ms, signal).then(() => ended.push(name));
  }

  /** Passes time, in steps in which queries get their answers. */
  async function pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i++) {
      mock.timers.tick(1_000);
      await setImmediate();
    }
  }

  it('are asked about by one query a second, and by none if nobody waits', async () => {
    await pass(3);
    assert.equal(poll.mock.callCount(), 0);
    for (let i = 0; i < 300; i++) wait(String(i), box(`acct_${i}`));
    await pass(4);
    assert.equal(poll.mock.callCount(), 4);
    assert.equal(poll.mock.calls[0]?.arguments[0].length, 300);
    assert.equal(waits.load.waiting, 300);
    await pass(30);
    assert.equal(ended.length, 300);
    const asked = poll.mock.callCount();
    await pass(5);
    assert.equal(poll.mock.callCount(), asked);
    assert.equal(waits.load.waiting, 0);
  });

  it('end when the query finds a copy, each by itself', async () => {
    wait('paris');
    wait('lyon', box('acct', 'lyon'));
    poll.mock.mockImplementation(async (boxes) =>
      boxes.map(({ recipient }) => recipient === 'lyon'),
    );
    await pass(1);
    assert.deepEqual(ended, ['lyon']);
  });

  it('end at once by a delivery of this server to their recipient', async () => {
    wait('paris');
    wait('lyon', box('acct', 'lyon'));
    wait('other account', box('other'));
    waits.noteDelivered('acct', ['paris', 'rome']);
    await setImmediate();
    assert.deepEqual(ended, ['paris']);
    assert.equal(poll.mock.callCount(), 0);
  });

  it('end when their time is up, or their client has gone', async () => {
    const gone = new AbortController();
    wait('two seconds', box(), 2_000);
    wait('gone', box(), 30_000, gone.signal);
    await pass(1);
    gone.abort();
    await setImmediate();
    assert.deepEqual(ended, ['gone']);
    await pass(1);
    assert.deepEqual(ended, ['gone', 'two seconds']);
    wait('gone before', box(), 30_000, gone.signal);
    await setImmediate();
    assert.equal(ended.at(-1), 'gone before');
    assert.equal(waits.load.waiting, 0);
  });

  it('wait on while the ledger cannot be used, and no second query is sent while one has no answer', async () => {
    let answer: (found: readonly boolean[]) => void = () => {};
    poll.mock.mockImplementationOnce(async () => {
      throw new Error('the database is gone');
    });
    wait('paris');
    await pass(1);
    assert.deepEqual(ended, []);
    poll.mock.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
    await pass(5);
    assert.equal(poll.mock.callCount(), 2);
    answer([true]);
    await setImmediate();
    assert.deepEqual(ended, ['paris']);
  });

  it('send no second query either when all have gone meanwhile, and others come', async () => {
    let answer: (found: readonly boolean[]) => void = () => {};
    poll.mock.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
    wait('first', box(), 2_000);
    await pass(3);
    assert.deepEqual(ended, ['first']);
    wait('second');
    await pass(5);
    assert.equal(poll.mock.callCount(), 1);
    answer([false]);
    await setImmediate();
    await pass(1);
    assert.equal(poll.mock.callCount(), 2);
  });

  it('end all when the server shuts down, and none waits from then on', async () => {
    wait('paris');
    wait('lyon', box('acct', 'lyon'));
    waits.end();
    wait('later');
    await setImmediate();
    assert.deepEqual(ended.toSorted(), ['later', 'lyon', 'paris']);
    await pass(3);
    assert.equal(poll.mock.callCount(), 0);
  });

  it('leave places of a box, of an account and of the server to others', async () => {
    const refused = async (query: WaitingQuery) => {
      const error = await waits
        .wait(query, 1_000, new AbortController().signal)
        .then(() => null)
        .catch((one: AppError) => one);
      return error && [error.code, error.details.ownShare];
    };
    for (let i = 0; i < 16; i++) wait(`${i}`);
    assert.deepEqual(await refused(box()), ['overloaded', true]);
    for (let i = 16; i < 512; i++) wait(`${i}`, box('acct', `r${i}`));
    assert.deepEqual(await refused(box('acct', 'lyon')), ['overloaded', true]);
    for (let i = 512; i < 2_048; i++) wait(`${i}`, box(`acct_${i}`));
    assert.deepEqual(await refused(box('another')), ['overloaded', false]);
    assert.equal(waits.load.waiting, waits.load.capacity);
  });
});
