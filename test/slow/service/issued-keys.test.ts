/**
 * API keys that are issued, revoked and moved to another plan while real servers run, and demo keys beside
 * them. 10 s.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { type Account, addAccounts } from '../../support/ledgers/books.ts';
import { until } from '../../support/run/until.ts';
import {
  DEMO_KEY,
  makeDataDir,
  phmJson,
  removeDataDir,
  Server,
} from '../../support/servers/server.ts';

/** Issues an API key of a new account, as an operator does. */
async function makeApiKey(dataDir: string) {
  const create = ['account', 'create', '--name', 'n', '--plan', 'professional'];
  const { account_id } = await phmJson<{ account_id: string }>(create, dataDir);
  const issue = ['api-key', 'issue', '--account', account_id];
  return phmJson<{ api_key: string; api_key_id: string }>(issue, dataDir);
}

/** Beyond loopback, without TLS. */
const OPEN = { PHM_HOST: '0.0.0.0', PHM_ALLOW_CLEARTEXT: 'on' };

describe('demo keys beyond loopback', () => {
  it('are rejected unless the server is configured otherwise', async (t) => {
    const dataDir = makeDataDir();
    t.after(() => removeDataDir(dataDir));
    const server = await Server.start(dataDir, OPEN);
    t.after(() => server.stop('SIGKILL'));
    const local = server.address.replace('0.0.0.0', '127.0.0.1');
    const headers = { 'X-API-Key': DEMO_KEY };
    assert.equal((await fetch(`${local}/api/v2/metrics`, { headers })).status, 401);
  });
});

describe('API keys of a server with PHM_DEMO_KEYS=on', () => {
  const dataDir = makeDataDir();
  let server: Server;
  const offered = async () => (await server.request('/')).body.demo_api_key;
  before(async () => {
    server = await Server.start(dataDir, { ...OPEN, PHM_DEMO_KEYS: 'on' });
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
  });

  it('coexist with the demo keys, beyond loopback too', async () => {
    const local = server.address.replace('0.0.0.0', '127.0.0.1');
    const headers = { 'X-API-Key': DEMO_KEY };
    assert.equal((await fetch(`${local}/api/v2/metrics`, { headers })).status, 200);
  });

  it('are valid once issued, and soon rejected and no longer offered once revoked', async () => {
    assert.equal(await offered(), DEMO_KEY);
    const { api_key, api_key_id } = await makeApiKey(dataDir);
    assert.equal((await server.generate({ security_level: 128 }, api_key)).status, 200);
    // PHM_DEMO_KEYS=on keeps them beside the operator's own.
    assert.equal(await offered(), DEMO_KEY);
    await phmJson(['api-key', 'revoke', api_key_id], dataDir);
    await phmJson(['api-key', 'revoke', 'key_demo_research'], dataDir);
    await until('the revoked key is refused', async () => {
      const { status, body } = await server.metrics('', api_key);
      return status === 401 && body.code === 'invalid_api_key';
    });
    await until('the demo key is not offered', async () => (await offered()) === null);
  });

  it('follow a change of plan', async () => {
    const [account] = (await addAccounts(sqliteIn(dataDir), ['research'])) as [Account];
    const { accountId, apiKey } = account;
    const limit = async () => (await server.metrics('', apiKey)).headers.get('x-ratelimit-limit');
    assert.equal(await limit(), '20');
    await phmJson(['account', 'set-plan', accountId, 'enterprise'], dataDir);
    await until('the new rate limit holds', async () => (await limit()) === '2000');
  });
});

describe('demo keys on loopback', () => {
  it('end with the first issued API key, on all servers, permanently', async (t) => {
    const dataDir = makeDataDir();
    t.after(() => removeDataDir(dataDir));
    const servers = [await Server.start(dataDir), await Server.start(dataDir)];
    t.after(() => Promise.all(servers.map((server) => server.stop('SIGKILL'))));
    for (const server of servers) assert.equal((await server.metrics()).status, 200);
    await addAccounts(sqliteIn(dataDir), ['research']);
    for (const server of servers) {
      await server.logged('"msg":"demo keys have ended: an API key was issued"');
      const { status, body } = await server.metrics();
      assert.deepEqual([status, body.code], [401, 'invalid_api_key']);
      assert.match(body.detail, /Demo keys ended on this server when the operator issued/);
      assert.equal((await server.request('/')).body.demo_api_key, null);
    }
    const again = await Server.start(dataDir);
    servers.push(again);
    await again.logged('"msg":"listening"', '"demoKeys":false');
    assert.equal((await again.metrics()).status, 401);
  });
});
