/** Limits on queries in progress in the statistics thread. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import type { AccountActivity } from '../../../src/ledger/index.ts';
import { Statistics } from '../../../src/service/reading/statistics.ts';
import type { StatisticsThread } from '../../../src/service/reading/statistics-thread.ts';
import { toFailure } from '../../../src/service/threads/failures.ts';
import type {
  StatisticsResult,
  StatisticsTask,
} from '../../../src/service/threads/statistics-messages.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

/** A thread that answers on command. */
class SlowThread implements Pick<StatisticsThread, 'ask' | 'end'> {
  readonly asked: ((result: StatisticsResult) => void)[] = [];

  ask(_task: StatisticsTask, onEnd?: () => void): Promise<StatisticsResult> {
    return new Promise((resolve) => {
      this.asked.push((result) => {
        onEnd?.();
        resolve(result);
      });
    });
  }

  answer(result: StatisticsResult = { kind: 'series', sums: [] }): void {
    this.asked.shift()?.(result);
  }

  async end(): Promise<void> {}
}

const STORE = { kind: 'sqlite', path: 'unused' } as const;

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
    const thread = new SlowThread();
    const statistics = new Statistics(thread, STORE);
    const ask = (accountId: string) => statistics.series({ ...query, accountId });
    const asked: Promise<unknown>[] = [];
    for (let i = 0; i < 8; i++) asked.push(ask('acct_0'));
    await assert.rejects(ask('acct_0'), overloaded(true));
    for (let i = 8; i < 64; i++) asked.push(ask(`acct_${Math.floor(i / 8)}`));
    await assert.rejects(ask('acct_other'), overloaded(false));
    thread.answer();
    asked.push(ask('acct_0'));
    // The others hold the rest, so an account with none would be refused too.
    await assert.rejects(ask('acct_0'), overloaded(false));
    while (thread.asked.length > 0) thread.answer();
    assert.equal((await Promise.all(asked)).length, 65);
    const last = ask('acct_other');
    thread.answer();
    assert.deepEqual(await last, []);
  });

  it('for activity go to the worker at once, with one limit for all accounts', async () => {
    const thread = new SlowThread();
    const statistics = new Statistics(thread, STORE);
    const asked: Promise<unknown>[] = [];
    for (let i = 0; i < 8; i++) asked.push(statistics.series({ ...query, accountId: 'acct' }));
    const longOnes = thread.asked.splice(0);
    const ask = () => statistics.activity({ accountId: 'acct', sinceMs: 0 });
    const sums = Array.from({ length: 8_192 }, ask);
    assert.equal(thread.asked.length, 8_192);
    await assert.rejects(ask(), overloaded(true));
    const activity = { activeApiKeys: 1 } as AccountActivity;
    while (thread.asked.length > 0) thread.answer({ kind: 'activity', activity });
    assert.deepEqual(new Set(await Promise.all(sums)), new Set([activity]));
    thread.asked.push(...longOnes);
    while (thread.asked.length > 0) thread.answer();
    assert.equal((await Promise.all(asked)).length, 8);
  });

  it('are refused after a check found the ledger damaged', async () => {
    const thread = new SlowThread();
    const statistics = new Statistics(thread, STORE);
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
    assert.equal(thread.asked.length, 0);
  });

  it('keep their place until the worker answers, even if the caller has given up', async () => {
    const ends: (() => void)[] = [];
    const late: StatisticsThread['ask'] = async (_, onEnd = () => {}) => {
      ends.push(onEnd);
      return { kind: 'failed', failure: toFailure(new AppError('ledger_unavailable')) };
    };
    const statistics = new Statistics({ ask: late, end: async () => {} }, STORE);
    const taken = () => statistics.loads.map(({ waiting }) => waiting);
    await assert.rejects(statistics.series({ ...query, accountId: 'a' }), {
      code: 'ledger_unavailable',
    });
    assert.deepEqual(taken(), [0, 1]);
    ends.shift()?.();
    assert.deepEqual(taken(), [0, 0]);
  });

  it('for the size of a SQLite ledger need no thread', async (t) => {
    const folder = makeDataDir();
    t.after(() => removeDataDir(folder));
    const path = join(folder, 'phm.db');
    const thread = new SlowThread();
    const statistics = new Statistics(thread, { kind: 'sqlite', path });
    await assert.rejects(statistics.databaseBytes(), { code: 'ENOENT' });
    writeFileSync(path, 'four');
    assert.equal(await statistics.databaseBytes(), 4);
    writeFileSync(`${path}-wal`, 'log');
    assert.equal(await statistics.databaseBytes(), 7);
    assert.equal(thread.asked.length, 0);
  });

  it('for the size of a PostgreSQL ledger ask the worker', async () => {
    const thread = new SlowThread();
    const statistics = new Statistics(thread, { kind: 'postgres', url: 'postgres://unused' });
    const asked = statistics.databaseBytes();
    thread.answer({ kind: 'size', bytes: 5 });
    assert.equal(await asked, 5);
  });

  it('fail with the failure that the worker reports', async () => {
    const thread = new SlowThread();
    const statistics = new Statistics(thread, STORE);
    const asked = statistics.series({ ...query, accountId: 'acct' });
    const failure = toFailure(new AppError('ledger_unavailable', { retryAfterSeconds: 7 }));
    thread.answer({ kind: 'failed', failure });
    await assert.rejects(asked, {
      code: 'ledger_unavailable',
      details: { retryAfterSeconds: 7, reason: failure.reason },
    });
  });
});
