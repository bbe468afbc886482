/** The key service in this process, with its workers, on a new SQLite ledger with one account. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { MONTHLY_QUOTAS } from '../../src/accounts/index.ts';
import { systemClock } from '../../src/clock.ts';
import { openSqliteStore, type Principal } from '../../src/ledger/index.ts';
import { KeyService } from '../../src/service/index.ts';
import { OS_ALONE } from './fakes.ts';

/** Starts a service that throws on any failure of a generator, a source or a worker. The caller closes it. */
export async function startKeyService(
  dataDir: string,
): Promise<{ service: KeyService; principal: Principal }> {
  const path = join(dataDir, 'phm.db');
  const createdMs = Date.now();
  const store = openSqliteStore({ path, quotas: MONTHLY_QUOTAS });
  const accountId = 'acct_test';
  const record = { apiKeyId: 'key_test', accountId, hint: '', createdMs, revokedMs: null };
  const keyHash = randomBytes(32);
  await store.addAccount({ accountId, name: 'n', plan: 'research', demo: false, createdMs });
  await store.addApiKey(record, keyHash);
  const [principal] = await store.authenticate([keyHash], createdMs);
  assert.ok(principal);
  await store.close();
  const service = await KeyService.start({
    store: { kind: 'sqlite', path },
    sources: OS_ALONE,
    secret: { versions: [{ version: 1, secret: Buffer.alloc(32, 9) }], currentVersion: 1 },
    onLedgerChange: () => {},
    suiteWorkers: 1,
    log: null,
    clock: systemClock,
    onLatch: ({ detail }) => assert.fail(detail),
    onFailedVerdict: ({ test }) => assert.fail(test),
    onUnvouchedKeys: () => assert.fail('unvouched keys'),
    onSuiteLate: () => assert.fail('no verdict'),
    onUnvouchedEnd: assert.fail,
    onSourceEvent: assert.fail,
    onFatal: assert.fail,
  });
  return { service, principal };
}
