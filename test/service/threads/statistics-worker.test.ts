/** The statistics worker opens the ledger itself, from the program that the server runs. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { AppError } from '../../../src/errors.ts';
import { openSqliteStore } from '../../../src/ledger/index.ts';
import { Statistics } from '../../../src/service/reading/statistics.ts';
import { statisticsThread } from '../../../src/service/threads/start-threads.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const LIMIT_MS = 60_000;

describe('a statistics worker that cannot open the ledger', () => {
  it('refuses queries with the reason, and opens it for a later one', async (t) => {
    const dataDir = makeDataDir();
    const path = join(dataDir, 'phm.db');
    mkdirSync(path);
    const store = { kind: 'sqlite', path } as const;
    const statistics = new Statistics(statisticsThread(store, assert.fail), store);
    t.after(async () => {
      await statistics.end(LIMIT_MS);
      removeDataDir(dataDir);
    });
    const ask = () => statistics.activity({ accountId: 'acct', sinceMs: 0 });
    for (let i = 0; i < 2; i++) {
      await assert.rejects(ask(), ({ code, details }: AppError) => {
        assert.equal(code, 'ledger_unavailable');
        assert.match(details.reason ?? '', /^cannot open the database .*: it is a directory/);
        return true;
      });
    }
    assert.ok(statistics.loads.every(({ waiting }) => waiting === 0));
    rmdirSync(path);
    await openSqliteStore({ path, quotas: {} }).close();
    assert.equal((await ask()).activeApiKeys, 0);
  });
});

describe('a statistics worker of a program that has changed', () => {
  it('refuses queries and says what to do, and leaves the ledger as it is', async (t) => {
    const dataDir = makeDataDir();
    const store = { kind: 'sqlite', path: join(dataDir, 'phm.db') } as const;
    const thread = statisticsThread(store, assert.fail, 'phm-key-service/0.0.0+other');
    const statistics = new Statistics(thread, store);
    t.after(async () => {
      await statistics.end(LIMIT_MS);
      removeDataDir(dataDir);
    });
    await assert.rejects(
      statistics.activity({ accountId: 'acct', sinceMs: 0 }),
      ({ code, details }: AppError) => {
        assert.deepEqual([code, details.retryAfterSeconds], ['ledger_unavailable', 60]);
        assert.match(details.remedy ?? '', /^The records of the past cannot be read/);
        assert.equal(
          details.reason,
          "the statistics worker cannot start: the program's files have changed since the server started: restart the server",
        );
        return true;
      },
    );
    assert.ok(!existsSync(store.path));
  });
});
