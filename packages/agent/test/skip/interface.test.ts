/** SKIP as encryptors reach it: with a certificate, or with a pre-shared key. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent as HttpsAgent, type RequestOptions, request } from 'node:https';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { ConnectionOptions } from 'node:tls';
import { until } from '../../../../test/support/run/until.ts';
import {
  type Client,
  LocalAgents,
  PRE_SHARED_KEY,
  type RunningSite,
} from '../support/local-agents.ts';

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of many answers
  readonly json: any;
  readonly allow?: string | undefined;
}

let agents: LocalAgents;
let a: RunningSite;
let b: RunningSite;

function call(url: string, { certFile, keyFile }: Client, method = 'GET'): Promise<Answer> {
  const [cert, key, ca] = [certFile, keyFile, agents.serverFile].map((file) => readFileSync(file));
  return send(url, { method, cert, key, ca });
}

function send(url: string, options: RequestOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        const text = Buffer.concat(chunks).toString();
        assert.equal(headers['content-length'], `${text.length}`);
        resolve({ status, json: JSON.parse(text), allow: headers.allow });
      });
    });
    sent.on('error', reject).end();
  });
}

/** Sends a request with a pre-shared key. Rejects if there is no connection. */
function callWithKey(
  url: string,
  { identity = 'a1', psk = PRE_SHARED_KEY, tls = {} as ConnectionOptions } = {},
): Promise<Answer> {
  const options: RequestOptions & ConnectionOptions = {
    ciphers: 'DHE-PSK-AES256-CBC-SHA384',
    maxVersion: 'TLSv1.2',
    ...tls,
    pskCallback: () => ({ identity, psk: Buffer.from(psk, 'hex') }),
    checkServerIdentity: () => undefined,
    agent: false,
  };
  return send(url, options);
}

describe('SKIP', () => {
  before(async () => {
    agents = await LocalAgents.create();
    for (const name of ['a1', 'a2', 'b1', 'b2', 'stranger']) agents.client(name);
    const sites = await agents.sites();
    [a, b] = [await agents.start(sites.a), await agents.start(sites.b)];
  });
  after(() => agents.stop());

  it('tells a system with whom it can share keys', async () => {
    const { status, json } = await call(`${b.skipUrl}/capabilities`, agents.client('b1'));
    assert.equal(status, 200);
    assert.deepEqual(json, {
      entropy: true,
      key: true,
      algorithm: 'PHM, HPKE',
      localSystemID: 'b1',
      remoteSystemID: ['a1'],
    });
    const own = await call(`${a.skipUrl}/capabilities`, agents.client('a1'));
    assert.deepEqual(own.json.remoteSystemID, ['a1', 'b1']);
  });

  it('gives both ends one key, of each size, and each end once', async () => {
    for (const size of ['', '&size=128', '&size=384']) {
      const taken = await call(`${a.skipUrl}/key?remoteSystemID=b1${size}`, agents.client('a1'));
      assert.equal(taken.status, 200);
      const { keyId, key } = taken.json;
      assert.match(keyId, /^[0-9a-f]{32}$/);
      assert.equal(key.length * 4, Number(size.split('=')[1] ?? 256));
      const read = await call(`${b.skipUrl}/key/${keyId}?remoteSystemID=a1`, agents.client('b1'));
      assert.deepEqual(read, taken);
      const again = await call(`${b.skipUrl}/key/${keyId}?remoteSystemID=a1`, agents.client('b1'));
      assert.equal(again.status, 400);
    }
  });

  it('shares its keys with ETSI GS QKD 014: one key, whatever each end speaks', async () => {
    const { json } = await call(`${a.skipUrl}/key?remoteSystemID=b1`, agents.client('a1'));
    const id = json.keyId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    const url = `${b.url}/api/v1/keys/a1/dec_keys?key_ID=${id}`;
    const read = await call(url, agents.client('b1'));
    assert.equal(Buffer.from(read.json.keys[0].key, 'base64').toString('hex'), json.key);
  });

  it('gives random bytes, different ones each time', async () => {
    const url = `${a.skipUrl}/entropy?minentropy=512`;
    const [one, other] = [
      await call(url, agents.client('a1')),
      await call(url, agents.client('a1')),
    ];
    assert.deepEqual([one.status, one.json.minentropy], [200, 512]);
    assert.equal(one.json.randomStr.length, 128);
    assert.notEqual(one.json.randomStr, other.json.randomStr);
  });

  it('refuses what is wrong, with a message', async () => {
    const { json } = await call(`${a.skipUrl}/key?remoteSystemID=b1`, agents.client('a1'));
    const cases = [
      [`${a.skipUrl}/key?remoteSystemID=b2`, 'a1', 400],
      [`${a.skipUrl}/key?remoteSystemID=b1`, 'stranger', 400],
      [`${a.skipUrl}/capabilities`, 'stranger', 400],
      [`${a.skipUrl}/key?remoteSystemID=b1&size=8`, 'a1', 400],
      [`${b.skipUrl}/key/${json.keyId}?remoteSystemID=a1`, 'b2', 400],
      [`${b.skipUrl}/key/${json.keyId}?remoteSystemID=b1`, 'b1', 400],
      [`${b.skipUrl}/key/${'0'.repeat(32)}?remoteSystemID=a1`, 'b1', 400],
      [`${b.skipUrl}/key/x?remoteSystemID=a1`, 'b1', 400],
      [`${a.skipUrl}/api/v1/keys/b1/status`, 'a1', 404],
      [`${a.url}/capabilities`, 'a1', 404],
    ] as const;
    for (const [url, name, status] of cases) {
      const answer = await call(url, agents.client(name));
      assert.equal(answer.status, status, `${name} at ${url}`);
      assert.equal(typeof answer.json.message, 'string');
    }
    const posted = await call(`${a.skipUrl}/capabilities`, agents.client('a1'), 'POST');
    assert.deepEqual([posted.status, posted.allow], [405, 'GET']);
    const read = await call(
      `${b.skipUrl}/key/${json.keyId}?remoteSystemID=a1`,
      agents.client('b1'),
    );
    assert.deepEqual(read.json, json);
  });

  it('answers 503 during an outage that is longer than the pool', async () => {
    agents.service.isDown = true;
    const take = () => call(`${a.skipUrl}/key?remoteSystemID=b1`, agents.client('a1'));
    let last = await take();
    while (last.status === 200) last = await take();
    assert.equal(last.status, 503);
    agents.service.heal();
  });
});

describe('SKIP with a pre-shared key', () => {
  before(async () => {
    agents = await LocalAgents.create();
    const sites = await agents.sites();
    [a, b] = [await agents.start(sites.a), await agents.start(sites.b)];
  });
  after(() => agents.stop());

  it('gives both ends one key', async () => {
    const taken = await callWithKey(`${a.pskUrl}/key?remoteSystemID=b1`);
    const url = `${b.pskUrl}/key/${taken.json.keyId}?remoteSystemID=a1`;
    assert.deepEqual(await callWithKey(url, { identity: 'b1' }), taken);
  });

  it('refuses other keys and names, a handshake without an ephemeral exchange, and older TLS', async () => {
    const url = `${a.pskUrl}/capabilities`;
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' } as const;
    const wrong = [
      { psk: 'ff'.repeat(32) },
      { identity: 'a2' },
      { identity: 'nobody' },
      { tls: { ciphers: 'PSK-AES256-GCM-SHA384' } },
      { tls: { ...old, ciphers: 'DHE-PSK-AES256-CBC-SHA:@SECLEVEL=0' } },
    ];
    for (const one of wrong)
      await assert.rejects(callWithKey(url, one), { code: /SSL|EPROTO|ECONN/ });
    assert.equal((await callWithKey(url)).json.localSystemID, 'a1');
    // The operator sees that somebody fails, once a minute for each address.
    const lines = a.lines.filter((line) => line.includes('a TLS handshake failed'));
    assert.equal(lines.length, 1);
    assert.equal(JSON.parse(lines[0] ?? '').address, '127.0.0.1');
    const page = await (await fetch(`${a.stateUrl}/metrics`)).text();
    const [, failed] = /^phm_agent_handshakes_failed_total (\d+)$/m.exec(page) ?? [];
    assert.ok(Number(failed) >= wrong.length, page);
  });

  it('says the same of a wrong name as of a wrong key', async () => {
    const url = `${a.pskUrl}/capabilities`;
    const reasonOf = (one: Parameters<typeof callWithKey>[1]) =>
      callWithKey(url, one).then(
        () => 'none',
        (error: Error) => /alert [a-z ]+/.exec(error.message)?.[0] ?? error.message,
      );
    const reasons = [
      await reasonOf({ psk: 'ff'.repeat(32) }),
      await reasonOf({ identity: 'nobody' }),
      await reasonOf({ identity: 'a2', psk: 'ff'.repeat(32) }),
    ];
    assert.equal(new Set(reasons).size, 1);
    assert.match(reasons[0] ?? '', /^alert /);
  });

  it('speaks TLS 1.2 alone, and keeps the names of two kept connections apart', async () => {
    const url = `${a.pskUrl}/capabilities`;
    const modern = {
      minVersion: 'TLSv1.3',
      maxVersion: 'TLSv1.3',
      ciphers: 'TLS_AES_128_GCM_SHA256',
    };
    await assert.rejects(callWithKey(url, { tls: modern as ConnectionOptions }));
    const key = Buffer.from(PRE_SHARED_KEY, 'hex');
    const other = Buffer.from('fedcba9876543210'.repeat(4), 'hex');
    const kept = (identity: string, psk: Buffer) => {
      const agent = new HttpsAgent({ keepAlive: true, maxSockets: 1 });
      const tls = { ciphers: 'DHE-PSK-AES256-CBC-SHA384', maxVersion: 'TLSv1.2' } as const;
      const options = { ...tls, pskCallback: () => ({ identity, psk }), agent };
      const call = () => send(url, { ...options, checkServerIdentity: () => undefined } as never);
      return { agent, call };
    };
    const [one, two] = [kept('a1', key), kept('a2', other)];
    for (const [end, name] of [
      [one, 'a1'],
      [two, 'a2'],
      [one, 'a1'],
      [two, 'a2'],
    ] as const) {
      assert.equal((await end.call()).json.localSystemID ?? name, name);
    }
    for (const { agent } of [one, two]) agent.destroy();
  });

  it('ends connections beyond 32 of one address', async () => {
    const { port } = new URL(a.pskUrl);
    const sockets = Array.from({ length: 40 }, () => connect(Number(port), '127.0.0.1'));
    const ended = sockets.map((socket) => {
      socket.on('error', () => {});
      return new Promise((resolve) => socket.once('close', resolve));
    });
    await Promise.race(ended);
    await until('eight are ended', () => sockets.filter(({ closed }) => closed).length === 8);
    for (const socket of sockets) socket.destroy();
    await Promise.all(ended);
    assert.equal((await callWithKey(`${a.pskUrl}/capabilities`)).status, 200);
  });
});
