/** The key service in this process, with its workers, on a new SQLite ledger with one account. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../../src/clock.ts';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { type LedgerStore, openSqliteStore, type Principal } from '../../../src/ledger/index.ts';
import type { MasterSecret } from '../../../src/proof/index.ts';
import { type KeyObserver, KeyService, type LogNotice } from '../../../src/service/index.ts';
import type { LogSetup } from '../../../src/service/offline.ts';
import { checkMasterSecret } from '../../../src/setup/index.ts';
import { OS_ALONE } from './fakes.ts';

interface ServiceOptions {
  /** Opens the log on the new ledger. */
  readonly openLog?: (store: LedgerStore) => Promise<LogSetup | null>;
  readonly onLogNotice?: (notice: LogNotice) => void;
  /** Changes the new ledger before the service opens it. */
  readonly prepare?: (store: LedgerStore) => Promise<unknown>;
  readonly observer?: KeyObserver;
  readonly suiteWorkers?: number;
  /** The wall clock of the main thread, from which requests get their time. */
  readonly clock?: Clock;
}

/** The master secret of these services. */
export const secretOfTests = (): MasterSecret => ({
  versions: [{ version: 1, secret: Buffer.alloc(32, 9) }],
  currentVersion: 1,
});

/**
 * Starts a service that throws on any failure of a generator, a source or a worker. The caller closes it. It has no
 * transparency log unless `openLog` opens one.
 */
export async function startKeyService(
  dataDir: string,
  {
    openLog = async () => null,
    onLogNotice = () => {},
    prepare = async () => {},
    observer,
    suiteWorkers = 1,
    clock = systemClock,
  }: ServiceOptions = {},
): Promise<{ service: KeyService; principal: Principal }> {
  const path = join(dataDir, 'phm.db');
  const createdMs = Date.now();
  const store = openSqliteStore({ path, quotas: monthlyQuotas(PUBLISHED_PLANS) });
  const accountId = 'acct_test';
  const record = { apiKeyId: 'key_test', accountId, hint: '', createdMs, revokedMs: null };
  const keyHash = Buffer.alloc(32, 7);
  await store.addAccount({ accountId, name: 'n', plan: 'research', demo: false, createdMs });
  await store.addApiKey(record, keyHash);
  const [principal] = await store.authenticate([keyHash], createdMs);
  assert.ok(principal);
  const log = await openLog(store);
  await checkMasterSecret(store, secretOfTests(), createdMs);
  await prepare(store);
  await store.close();
  const service = await KeyService.start({
    store: { kind: 'sqlite', path },
    quotas: monthlyQuotas(PUBLISHED_PLANS),
    sources: OS_ALONE,
    secret: secretOfTests(),
    onLedgerChange: () => {},
    suiteWorkers,
    ...(observer && { observer }),
    log,
    onLogNotice,
    clock,
    onLatch: ({ detail }) => assert.fail(detail),
    onEvidenceWarning: (warning) => assert.fail(JSON.stringify(warning)),
    onUnvouchedKeys: () => assert.fail('unvouched keys'),
    onSuiteLate: () => assert.fail('no verdict'),
    onSuiteWorkerLost: () => assert.fail('no worker'),
    onUnvouchedEnd: assert.fail,
    onSourceEvent: assert.fail,
    onFatal: assert.fail,
  });
  return { service, principal };
}
