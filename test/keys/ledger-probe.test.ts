import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { LedgerProbe } from '../../src/keys/ledger-probe.ts';
import type { LedgerStore, ProbeOrder } from '../../src/ledger/index.ts';

describe('the probe of the ledger', () => {
  let orders: ProbeOrder[];
  let outcome: () => void;
  let probe: LedgerProbe;
  let nowMs: number;

  beforeEach(() => {
    orders = [];
    outcome = () => {};
    nowMs = 1_000_000;
    mock.method(process.hrtime, 'bigint', () => BigInt(nowMs) * 1_000_000n);
    const store = {
      probe: async (order: ProbeOrder) => {
        orders.push(order);
        outcome();
      },
    };
    probe = new LedgerProbe(store as unknown as LedgerStore);
  });
  afterEach(() => mock.restoreAll());

  const runs = async (times: number) => {
    for (let i = 0; i < times; i++) {
      nowMs += 2_000;
      await probe.run();
    }
  };

  it('asks for room at first and every thirty seconds without traffic', async () => {
    await runs(31);
    assert.deepEqual(
      orders.flatMap(({ room }, i) => (room ? [i] : [])),
      [0, 15, 30],
    );
  });

  it('writes nothing when a key was recorded since the last question', async () => {
    await runs(1);
    probe.noteRecorded(0);
    await runs(1);
    assert.equal(orders.length, 2, 'a batch without a key shows nothing');
    nowMs += 1_000;
    probe.noteRecorded(3);
    nowMs += 1_000;
    await probe.run();
    assert.equal(orders.length, 2);
  });

  it('shows what failed batches may have lacked until it has succeeded once', async () => {
    await runs(1);
    probe.noteFailed(['b', 'a', 'b']);
    probe.noteRecorded(1);
    outcome = () => {
      throw new Error('staged');
    };
    await assert.rejects(runs(1), { message: 'staged' });
    outcome = () => {};
    await runs(2);
    const thorough = { accountIds: ['b', 'a'], room: true };
    assert.deepEqual(orders.slice(1), [thorough, thorough, { accountIds: [], room: false }]);
  });

  it('stays thorough when a commit fails while it runs', async () => {
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
});
