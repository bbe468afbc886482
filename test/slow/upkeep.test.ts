/** A real server removes old rows by itself, a minute after its start. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteStore } from '../../src/ledger/index.ts';
import { areRecorded, keyRequest, makeKeyId, makeRow, NOW, QUOTAS } from '../ledger/contract.ts';
import { makeDataDir, removeDataDir, Server } from '../support/server.ts';

const DAY_MS = 86_400_000;

const dataDir = makeDataDir();
let server: Server | undefined;
after(async () => {
  await server?.stop('SIGKILL');
  removeDataDir(dataDir);
});

const openStore = () => openSqliteStore({ path: join(dataDir, 'phm.db'), quotas: QUOTAS });
const rowOf = (days: number) => makeRow({ keyId: makeKeyId(Date.now() - days * DAY_MS) });

it('a server prunes by PHM_RETENTION_DAYS and logs what it removed', async () => {
  const [old, kept] = [rowOf(8), rowOf(6)];
  const accountId = 'acct_e';
  const store = openStore();
  await store.addAccount({ accountId, name: 'e', plan: 'enterprise', demo: false, createdMs: NOW });
  await store.commit([keyRequest(accountId, old), keyRequest(accountId, kept)], []);
  await store.close();
  server = await Server.start(dataDir, { PHM_RETENTION_DAYS: '7' });
  while (!server.log.includes('old rows were removed')) await delay(500);
  assert.match(server.log, /"rows":1,"minuteSums":0,"partitions":\[\]/);
  assert.equal((await server.generate({ security_level: 256 })).status, 200);
  assert.equal(await server.stop(), 0);
  const again = openStore();
  assert.deepEqual(await areRecorded(again, [old.keyId, kept.keyId]), [false, true]);
  await again.close();
});
