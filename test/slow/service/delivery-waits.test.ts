/** Lists that wait for a copy, on a server of their own: what wakes them, and what they must not hold. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { newRecipient, type RecipientKey } from '#sealing';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { openStore } from '../../../src/ledger/index.ts';
import { batchOf } from '../../ledger/sealing-contract.ts';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { type Account, addAccounts } from '../../support/ledgers/books.ts';
import { until } from '../../support/run/until.ts';
import { type Answer, makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

const dataDir = makeDataDir();
/** Boxes of the account. */
const NAMES = Array.from({ length: 20 }, (_, i) => `site-${i}`);

const recipients = await Promise.all(NAMES.map(() => newRecipient()));

describe('lists that wait for a copy', () => {
  let server: Server;
  let account: Account;

  before(async () => {
    server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off', PHM_METRICS_PORT: '0' });
    [account] = (await addAccounts(sqliteIn(dataDir), ['enterprise'])) as [Account];
    const store = await openStore(sqliteIn(dataDir), {});
    const { accountId } = account;
    for (const [i, name] of NAMES.entries()) {
      const { suite, publicKey } = recipients[i] as RecipientKey;
      await store.addRecipient({ accountId, name, suite, publicKey, createdMs: Date.now() });
    }
    await store.close();
  });
  after(async () => {
    await server.stop();
    removeDataDir(dataDir);
  });

  const wait = (name: string, seconds: number, init: RequestInit = {}): Promise<Answer> =>
    server.request(`/api/v2/deliveries?recipient=${name}&wait=${seconds}`, {
      ...init,
      headers: { 'X-API-Key': account.apiKey },
    });

  const idsOf = ({ status, body }: Answer): string[] => {
    assert.equal(status, 200, JSON.stringify(body));
    return body.deliveries.map(({ delivery_id: id }: { delivery_id: string }) => id);
  };

  async function deliver(...names: string[]): Promise<string> {
    const id = randomUUID();
    const seal_to = names.map((recipient) => ({ recipient }));
    const body = { security_level: 128, seal_to, deliver: { id } };
    const { status } = await server.post('/api/v2/generate/sealed', body, account.apiKey);
    assert.equal(status, 200);
    return id;
  }

  async function waiting(): Promise<number> {
    const text = await server.scrape();
    return Number(/phm_queue_waiting\{queue="long_polls"\} (\d+)/.exec(text)?.[1]);
  }

  it('end with the next copy, each in its own box', async () => {
    const asked = NAMES.slice(0, 2).map((name) => wait(name, 30).then(idsOf));
    await until('two lists wait', async () => (await waiting()) === 2);
    const second = await deliver('site-1');
    assert.deepEqual(await asked[1], [second]);
    assert.equal(await waiting(), 1);
    const first = await deliver('site-0');
    assert.deepEqual(await asked[0], [first]);
    assert.deepEqual(idsOf(await wait('site-0', 30)), [first]);
  });

  it('end empty when the time is over', async () => {
    assert.deepEqual(idsOf(await wait('site-2', 1)), []);
  });

  it('see the delivery of another process', async () => {
    const asked = wait('site-3', 30).then(idsOf);
    await until('a list waits', async () => (await waiting()) === 1);
    const other = await openStore(sqliteIn(dataDir), monthlyQuotas(PUBLISHED_PLANS));
    const deliveryId = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
    const delivery = {
      deliveries: [{ deliveryId, copies: ['{}'] }],
      recipients: [{ name: 'site-3', publicKey: recipients[3]?.publicKey ?? Buffer.alloc(0) }],
      untilMs: Date.now() + 60_000,
      limits: { copies: 10, bytes: 1_000 },
    };
    const request = batchOf(account.accountId, 1, { delivery, atMs: Date.now() });
    assert.equal((await other.commit([request], []))[0]?.kind, 'committed');
    await other.close();
    assert.equal((await asked).length, 1);
  });

  it('are forgotten when their clients go', async () => {
    const stop = new AbortController();
    const gone = Array.from({ length: 16 }, () =>
      wait('site-4', 30, { signal: stop.signal }).catch(() => null),
    );
    await until('all wait', async () => (await waiting()) === 16);
    const refused = await wait('site-4', 30);
    assert.deepEqual([refused.status, refused.body.code], [503, 'overloaded']);
    stop.abort();
    await Promise.all(gone);
    await until('none waits', async () => (await waiting()) === 0);
  });

  it('leave the server free for other requests, also by the hundred', async () => {
    const names = NAMES.slice(5);
    const asked = Array.from({ length: 240 }, (_, i) =>
      wait(names[i % names.length] ?? '', 30).then(idsOf),
    );
    await until('all wait', async () => (await waiting()) === 240);
    const ids = [await deliver(...names.slice(0, 8)), await deliver(...names.slice(8))];
    for (const [i, found] of (await Promise.all(asked)).entries()) {
      assert.deepEqual(found, [i % names.length < 8 ? ids[0] : ids[1]]);
    }
  });

  it('are answered at once when the server shuts down', async () => {
    await until('none waits', async () => (await waiting()) === 0);
    const stopped = await Server.start(dataDir, {
      ...{ PHM_RATE_LIMITS: 'off', PHM_METRICS_PORT: '0', PHM_DRAIN_SECONDS: '0' },
    });
    const before = server;
    // It waits as long as the other list, on a server that goes on.
    const leave = new AbortController();
    let hasEnded = false;
    const earlier = wait('site-4', 30, { signal: leave.signal }).then(
      () => {
        hasEnded = true;
      },
      () => {},
    );
    await until('the earlier list waits', async () => (await waiting()) === 1);
    server = stopped;
    const asked = wait('site-4', 30).then(idsOf);
    await until('a list waits', async () => (await waiting()) === 1);
    const [ids, code] = await Promise.all([asked, stopped.stop('SIGTERM')]);
    server = before;
    assert.deepEqual([ids, code, hasEnded], [[], 0, false]);
    leave.abort();
    await earlier;
  });
});
