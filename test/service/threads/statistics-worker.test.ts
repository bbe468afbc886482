/** The statistics worker opens the ledger itself. Readiness does not wait for it. */
import assert from 'node:assert/strict';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { endThread, hasEnded } from '../../../packages/platform/src/threads/worker-thread.ts';
import type { AppError } from '../../../src/errors.ts';
import { openSqliteStore } from '../../../src/ledger/index.ts';
import { Statistics } from '../../../src/service/reading/statistics.ts';
import { startStatistics } from '../../../src/service/threads/start-threads.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

describe('a statistics worker that cannot open the ledger', () => {
  it('refuses queries with the reason, and opens it for a later one', async (t) => {
    const dataDir = makeDataDir();
    const path = join(dataDir, 'phm.db');
    mkdirSync(path);
    const worker = startStatistics({ kind: 'sqlite', path });
    t.after(async () => {
      await endThread(worker);
      removeDataDir(dataDir);
    });
    const statistics = new Statistics(worker);
    const ask = () => statistics.activity({ accountId: 'acct', sinceMs: 0 });
    for (let i = 0; i < 2; i++) {
      await assert.rejects(ask(), ({ code, details }: AppError) => {
        assert.equal(code, 'ledger_unavailable');
        assert.match(details.reason ?? '', /^cannot open the database .*: it is a directory/);
        return true;
      });
    }
    assert.ok(statistics.loads.every(({ waiting }) => waiting === 0));
    assert.ok(!hasEnded(worker), 'the process would end with it');
    rmdirSync(path);
    await openSqliteStore({ path, quotas: {} }).close();
    assert.equal((await ask()).activeApiKeys, 0);
  });
});
