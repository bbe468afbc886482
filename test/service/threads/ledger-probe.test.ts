import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import type { LedgerStore, ProbeOrder } from '../../../src/ledger/index.ts';
import { LedgerProbe } from '../../../src/service/threads/ledger-probe.ts';

describe('the ledger probe', () => {
  let orders: ProbeOrder[];
  let outcome: () => void;
  let isLocked: boolean;
  let probe: LedgerProbe;
  let nowMs: number;

  beforeEach(() => {
    orders = [];
    outcome = () => {};
    isLocked = false;
    nowMs = 1_000_000;
    mock.method(process.hrtime, 'bigint', () => BigInt(nowMs) * 1_000_000n);
    const store = {
      probe: async (order: ProbeOrder) => {
        orders.push(order);
        outcome();
        return isLocked;
      },
    };
    probe = new LedgerProbe(store as unknown as LedgerStore);
  });
  afterEach(() => mock.restoreAll());

  const commit = (accountIds: string[], keys: number) => {
    probe.noteBegun();
    probe.noteCommitted(accountIds, keys);
  };
  const runs = async (times: number) => {
    for (let i = 0; i < times; i++) {
      nowMs += 2_000;
      await probe.run();
    }
  };

  it('checks for space at first and every thirty seconds without traffic', async () => {
    await runs(31);
    assert.deepEqual(
      orders.flatMap(({ room }, i) => (room ? [i] : [])),
      [0, 15, 30],
    );
  });

  it('writes nothing if a key was recorded since the last check', async () => {
    await runs(1);
    commit([], 0);
    await runs(1);
    assert.equal(orders.length, 2, 'a batch without a key shows nothing');
    nowMs += 1_000;
    commit([], 3);
    nowMs += 1_000;
    await probe.run();
    assert.equal(orders.length, 2);
  });

  it('checks what failed batches may have lacked until it succeeds once', async () => {
    await runs(1);
    probe.noteFailed(['b', 'a', 'b']);
    commit(['c'], 1);
    outcome = () => {
      throw new Error('staged');
    };
    await assert.rejects(runs(1), { message: 'staged' });
    outcome = () => {};
    await runs(2);
    const thorough = { accountIds: ['b', 'a'], room: true };
    assert.deepEqual(orders.slice(1), [thorough, thorough, { accountIds: [], room: false }]);
  });

  it('repeats the full check if a commit fails while it runs', async () => {
    probe.noteFailed(['a']);
    outcome = () => {
      outcome = () => {};
      probe.noteFailed(['b']);
    };
    await runs(2);
    assert.deepEqual(
      orders.map(({ accountIds }) => accountIds),
      [['a'], ['a', 'b']],
    );
  });

  it('writes nothing during a commit, for five seconds after a key', async () => {
    commit([], 1);
    probe.noteBegun();
    await runs(2);
    assert.equal(orders.length, 0);
    await runs(1);
    assert.equal(orders.length, 1);
  });

  it('checks an account’s rows until they are free, it commits, or it is idle for ten seconds', async () => {
    const suspects = () => orders.splice(0).map(({ accountIds }) => accountIds);
    isLocked = true;
    probe.noteFailed(['a', 'b']);
    await runs(1);
    commit(['b'], 1);
    await runs(1);
    assert.deepEqual(suspects(), [['a', 'b'], ['a']]);
    await runs(5);
    assert.deepEqual(suspects(), [['a'], ['a'], ['a'], [], []]);
    probe.noteFailed(['a']);
    await runs(1);
    isLocked = false;
    await runs(2);
    assert.deepEqual(suspects(), [['a'], ['a'], []]);
  });
});
