/** What must not be released is taken back, however long the ledger cannot be used. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, type Mock, mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../../src/errors.ts';
import { Withdrawals } from '../../../src/service/requests/withdrawals.ts';
import type { KeyTask, KeyTaskResult } from '../../../src/service/threads/messages.ts';

type Submit = (task: KeyTask) => Promise<KeyTaskResult>;

const taskOf = (deliveryId: number) => ({
  kind: 'withdraw' as const,
  answer: null,
  deliveries: { accountId: 'acct', deliveryIds: [Uint8Array.of(deliveryId)] },
});

const DONE: KeyTaskResult = { kind: 'withdrawn' };

describe('a withdrawal', () => {
  let submit: Mock<Submit>;
  let withdrawals: Withdrawals;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    submit = mock.fn<Submit>(async () => DONE);
    withdrawals = new Withdrawals({ submit } as never);
  });
  afterEach(() => mock.timers.reset());

  async function pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 500) {
      mock.timers.tick(500);
      await setImmediate();
    }
  }

  it('is done once, and then no retry of the request is withheld', async () => {
    await withdrawals.withdraw('acct key', taskOf(1));
    assert.equal(withdrawals.has('acct key'), false);
    await pass(60_000);
    assert.equal(submit.mock.callCount(), 1);
  });

  it('rejects while the ledger cannot be used, and is tried until it is done', async () => {
    submit.mock.mockImplementation(() => Promise.reject(new AppError('ledger_unavailable')));
    const error = { code: 'ledger_unavailable' };
    await assert.rejects(withdrawals.withdraw('acct key', taskOf(1)), error);
    await assert.rejects(withdrawals.withdraw(null, taskOf(2)), error);
    await assert.rejects(withdrawals.withdraw(null, taskOf(3)), error);
    assert.equal(withdrawals.has('acct key'), true);
    await pass(120_000);
    // Twice as long each time, up to half a minute: 0.5, 1, 2 … 30 s.
    assert.equal(submit.mock.callCount(), 3 * (1 + 8));
    submit.mock.mockImplementation(async () => DONE);
    submit.mock.resetCalls();
    await pass(30_000);
    const tried = submit.mock.calls.map(({ arguments: [task] }) => task);
    assert.deepEqual(tried, [taskOf(1), taskOf(2), taskOf(3)]);
    assert.equal(withdrawals.has('acct key'), false);
    await pass(60_000);
    assert.equal(submit.mock.callCount(), 3);
  });
});
