/** Limits on queries in progress in the statistics worker. */

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { AppError } from '../../../src/errors.ts';
import type { AccountActivity } from '../../../src/ledger/index.ts';
import { Statistics } from '../../../src/service/reading/statistics.ts';
import { toFailure } from '../../../src/service/threads/failures.ts';
import type {
  StatisticsMessage,
  StatisticsResult,
} from '../../../src/service/threads/statistics-messages.ts';

/** A worker that answers on command. */
class SlowWorker extends EventEmitter {
  readonly asked: number[] = [];

  postMessage(message: StatisticsMessage): void {
    if (message !== 'close') this.asked.push(message.id);
  }

  answer(result: StatisticsResult = { kind: 'series', sums: [] }): void {
    this.emit('message', { id: this.asked.shift(), result });
  }
}

const query = { startMs: 0, stepMinutes: 1, steps: 1 };

/** What a caller gets that has too many requests in progress, and one that meets a full service. */
const overloaded = (ownShare: boolean) => ({
  code: 'overloaded',
  details: {
    retryAfterSeconds: 1,
    ownShare,
    ...(ownShare && {
      remedy:
        'You have too many requests in progress at a time. Wait for some of their answers, and try again in {wait}.',
    }),
  },
});

describe('queries to the statistics worker', () => {
  it('are limited to eight per account and 64 in total, then refused as overloaded', async () => {
    const worker = new SlowWorker();
    const statistics = new Statistics(worker as unknown as Worker);
    const ask = (accountId: string) => statistics.series({ ...query, accountId });
    const asked: Promise<unknown>[] = [];
    for (let i = 0; i < 8; i++) asked.push(ask('acct_0'));
    await assert.rejects(ask('acct_0'), overloaded(true));
    for (let i = 8; i < 64; i++) asked.push(ask(`acct_${Math.floor(i / 8)}`));
    await assert.rejects(ask('acct_other'), overloaded(false));
    worker.answer();
    asked.push(ask('acct_0'));
    // The others hold the rest, so an account with none would be refused too.
    await assert.rejects(ask('acct_0'), overloaded(false));
    while (worker.asked.length > 0) worker.answer();
    assert.equal((await Promise.all(asked)).length, 65);
    const last = ask('acct_other');
    worker.answer();
    assert.deepEqual(await last, []);
  });

  it('for activity go to the worker at once, with one limit for all accounts', async () => {
    const worker = new SlowWorker();
    const statistics = new Statistics(worker as unknown as Worker);
    const asked: Promise<unknown>[] = [];
    for (let i = 0; i < 8; i++) asked.push(statistics.series({ ...query, accountId: 'acct' }));
    const longOnes = worker.asked.splice(0);
    const ask = () => statistics.activity({ accountId: 'acct', sinceMs: 0 });
    const sums = Array.from({ length: 8_192 }, ask);
    assert.equal(worker.asked.length, 8_192);
    await assert.rejects(ask(), overloaded(true));
    const activity = { activeApiKeys: 1 } as AccountActivity;
    while (worker.asked.length > 0) worker.answer({ kind: 'activity', activity });
    assert.deepEqual(new Set(await Promise.all(sums)), new Set([activity]));
    worker.asked.push(...longOnes);
    while (worker.asked.length > 0) worker.answer();
    assert.equal((await Promise.all(asked)).length, 8);
  });

  it('are refused after a check found the ledger damaged', async () => {
    const worker = new SlowWorker();
    const statistics = new Statistics(worker as unknown as Worker);
    statistics.condemn('the database is damaged');
    for (const ask of [
      () => statistics.activity({ accountId: 'acct', sinceMs: 0 }),
      () => statistics.series({ ...query, accountId: 'acct' }),
      () => statistics.randomness({ accountId: 'acct', keys: 1, withPValues: false }),
    ]) {
      await assert.rejects(ask(), (error) => {
        const { code, retryAfterSeconds, reason } = toFailure(error);
        assert.deepEqual([code, retryAfterSeconds], ['ledger_unavailable', 5]);
        return reason === 'the database is damaged';
      });
    }
    assert.equal(worker.asked.length, 0);
  });

  it('fail after half a minute without an answer, and keep their places until it comes', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const worker = new SlowWorker();
    const statistics = new Statistics(worker as unknown as Worker);
    const late = assert.rejects(statistics.series({ ...query, accountId: 'a' }), {
      code: 'ledger_unavailable',
    });
    test.mock.timers.tick(30_000);
    await late;
    const taken = () => statistics.loads.map(({ waiting }) => waiting);
    assert.deepEqual(taken(), [0, 1]);
    worker.answer();
    assert.deepEqual(taken(), [0, 0]);
  });

  it('fail with the failure that the worker reports', async () => {
    const worker = new SlowWorker();
    const statistics = new Statistics(worker as unknown as Worker);
    const asked = statistics.series({ ...query, accountId: 'acct' });
    const failure = toFailure(new AppError('ledger_unavailable', { retryAfterSeconds: 7 }));
    worker.answer({ kind: 'failed', failure });
    await assert.rejects(asked, {
      code: 'ledger_unavailable',
      details: { retryAfterSeconds: 7, reason: failure.reason },
    });
  });
});
