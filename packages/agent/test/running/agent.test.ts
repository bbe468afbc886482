/** Agents as systems reach them: by mutual TLS, each under the name in its certificate, with limits on all that they send. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { type Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { until } from '../../../../test/support/run/until.ts';
import { LockedError } from '../../src/store/lock.ts';
import { type Client, LocalAgents, type RunningSite, type Site } from '../support/local-agents.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of many answers
  readonly json: any;
}

interface Call {
  readonly method?: string;
  readonly body?: string;
  readonly agent?: HttpAgent;
  readonly version?: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
}

let agents: LocalAgents;
let a: RunningSite;
let b: RunningSite;
let siteA: Site;

function call(
  url: string,
  client: Client | null,
  { method, body, agent, version }: Call = {},
): Promise<Answer> {
  const tls = client && {
    cert: readFileSync(client.certFile),
    key: readFileSync(client.keyFile),
    ca: readFileSync(agents.serverFile),
    ...(version === undefined ? {} : { minVersion: version, maxVersion: version }),
  };
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const options = {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      ...tls,
      ...(agent && { agent }),
    };
    const sent = send(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, json: JSON.parse(Buffer.concat(chunks).toString()) });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const keys = (site: RunningSite, rest: string): string => `${site.url}/api/v1/keys/${rest}`;

describe('two agents', () => {
  before(async () => {
    agents = await LocalAgents.create();
    for (const name of ['a1', 'a2', 'b1', 'b2', 'stranger']) agents.client(name);
    const sites = await agents.sites();
    siteA = sites.a;
    [a, b] = [await agents.start(sites.a), await agents.start(sites.b)];
    await until('the pools are filled', async () => {
      const { json } = await call(keys(a, 'b1/status'), agents.client('a1'));
      return json.stored_key_count >= 4;
    });
  });
  after(() => agents.stop());

  it('give a master keys, and its slave the same keys', async () => {
    const body = JSON.stringify({ number: 3, size: 256 });
    const taken = await call(keys(a, 'b1/enc_keys'), agents.client('a1'), { body });
    assert.equal(taken.status, 200);
    assert.equal(taken.headers['content-type'], 'application/json');
    assert.equal(taken.headers['cache-control'], 'no-store');
    const key_IDs = taken.json.keys.map(({ key_ID }: { key_ID: string }) => ({ key_ID }));
    const read = await call(keys(b, 'a1/dec_keys'), agents.client('b1'), {
      body: JSON.stringify({ key_IDs }),
    });
    assert.deepEqual(read.json, taken.json);
    const again = await call(
      keys(b, `a1/dec_keys?key_ID=${key_IDs[0].key_ID}`),
      agents.client('b1'),
    );
    assert.equal(again.status, 400);
    assert.deepEqual(again.json, { message: 'one or more keys specified are not found on KME' });
  });

  it('state what a pair can have', async () => {
    const { status, json } = await call(keys(a, 'b1/status'), agents.client('a1'));
    assert.equal(status, 200);
    const { stored_key_count, status_extension, ...fixed } = json;
    assert.ok(Number.isInteger(stored_key_count));
    assert.ok(status_extension === undefined || Number.isInteger(status_extension.stored_seconds));
    assert.deepEqual(fixed, {
      source_KME_ID: 'site-a',
      target_KME_ID: 'site-b',
      master_SAE_ID: 'a1',
      slave_SAE_ID: 'b1',
      key_size: 256,
      max_key_count: 1000,
      max_key_per_request: 128,
      max_key_size: 384,
      min_key_size: 128,
      max_SAE_ID_count: 1,
    });
  });

  it('give a group one key', async () => {
    const body = JSON.stringify({ additional_slave_SAE_IDs: ['b2'] });
    const { json } = await call(keys(a, 'b1/enc_keys'), agents.client('a1'), { body });
    const [{ key_ID, key }] = json.keys;
    for (const name of ['b1', 'b2']) {
      const read = await call(keys(b, `a1/dec_keys?key_ID=${key_ID}`), agents.client(name));
      assert.deepEqual(read.json.keys, [{ key_ID, key }]);
    }
  });

  it('refuse those that may not have a key: 401, by the name in the certificate alone', async () => {
    const { json } = await call(keys(a, 'b1/enc_keys'), agents.client('a1'));
    const [{ key_ID }] = json.keys;
    const wrong = [
      [keys(b, `a1/dec_keys?key_ID=${key_ID}`), 'b2'],
      [keys(b, `a1/dec_keys?key_ID=${key_ID}`), 'a1'],
      [keys(b, `b2/dec_keys?key_ID=${key_ID}`), 'b1'],
      [keys(a, 'b1/enc_keys'), 'a2'],
      [keys(a, 'b1/enc_keys'), 'b1'],
      [keys(a, 'b2/enc_keys'), 'a1'],
      [keys(a, 'b1/status'), 'stranger'],
      [keys(a, 'nobody/status'), 'a1'],
    ] as const;
    for (const [url, name] of wrong) {
      const refused = await call(url, agents.client(name));
      assert.equal(refused.status, 401, `${name} at ${url}`);
      assert.equal(typeof refused.json.message, 'string');
    }
    const read = await call(keys(b, `a1/dec_keys?key_ID=${key_ID}`), agents.client('b1'));
    assert.equal(read.status, 200);
  });

  it('answer wrong requests with a message', async () => {
    const client = agents.client('a1');
    const cases = [
      [keys(a, 'b1/enc_keys?size=257'), {}, 400],
      [keys(a, 'b1/enc_keys?number=129'), {}, 400],
      [keys(a, 'b1/enc_keys'), { body: '{' }, 400],
      [keys(a, 'b1/enc_keys'), { body: '{"extension_mandatory":[{"a":1}]}' }, 400],
      [keys(a, 'b1/enc_keys'), { body: '{"additional_slave_SAE_IDs":["b1"]}' }, 400],
      [keys(a, 'a1/dec_keys?key_ID=00000000-0000-0000-0000-000000000000'), {}, 400],
      [keys(a, 'b1/enc_keys'), { method: 'DELETE' }, 405],
      [keys(a, 'b1/status'), { body: '{}' }, 405],
      [`${a.url}/`, {}, 404],
      [keys(a, 'b1/enc_keys'), { body: 'x'.repeat(70_000) }, 413],
    ] as const;
    for (const [url, options, status] of cases) {
      const answer = await call(url, client, options);
      assert.equal(answer.status, status, url);
      assert.equal(typeof answer.json.message, 'string');
    }
  });

  it('speak TLS 1.2 and 1.3 and nothing older, with a certificate of a pinned authority alone', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { status } = await call(keys(a, 'b1/status'), agents.client('a1'), { version });
      assert.equal(status, 200, version);
    }
    await assert.rejects(call(keys(a, 'b1/status'), agents.client('a1'), { version: 'TLSv1.1' }));
    await assert.rejects(call(keys(a, 'b1/status'), agents.client('unknown to the agents')));
    const withoutCertificate = new Promise((resolve, reject) => {
      const socket = connect({
        port: Number(new URL(a.url).port),
        ca: readFileSync(agents.serverFile),
      });
      socket.on('error', reject);
      socket.on('secureConnect', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
      socket.on('data', resolve);
      socket.on('close', reject);
    });
    await assert.rejects(withoutCertificate);
  });

  it('answer many requests of a connection, under one name', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ids = new Set<string>();
    for (let i = 0; i < 20; i += 1) {
      const { json } = await call(keys(a, 'b1/enc_keys'), agents.client('a1'), { agent });
      ids.add(json.keys[0].key_ID);
    }
    agent.destroy();
    assert.equal(ids.size, 20);
  });

  it('serve one system by plain HTTP on this machine', async () => {
    const { json } = await call(`${a.plainUrl}/api/v1/keys/b1/enc_keys`, null);
    const [{ key_ID, key }] = json.keys;
    const read = await call(`${b.plainUrl}/api/v1/keys/a1/dec_keys?key_ID=${key_ID}`, null);
    assert.deepEqual(read.json.keys, [{ key_ID, key }]);
  });

  it('end a connection that sends too long a header, or no HTTP, with a message', async () => {
    const sent = {
      431: `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      400: 'HELLO\r\n\r\n',
      404: 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
    };
    for (const [status, text] of Object.entries(sent)) {
      const socket = connectPlain(Number(new URL(a.plainUrl).port), '127.0.0.1');
      const chunks: Buffer[] = [];
      const ended = new Promise((resolve) => socket.on('close', resolve));
      socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {});
      socket.write(text);
      await ended;
      const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
      assert.ok(head.startsWith(`HTTP/1.1 ${status} `), head);
      assert.equal(typeof JSON.parse(body).message, 'string');
    }
  });

  it('show metrics and health, and write no key to their logs, journals and metrics', async () => {
    const { json } = await call(keys(a, 'b1/enc_keys'), agents.client('a1'));
    const [{ key }] = json.keys;
    const page = await (await fetch(`${a.stateUrl}/metrics`)).text();
    assert.match(page, /^phm_agent_keys_handed_out_total\{role="master"\} [1-9]/m);
    assert.match(page, /^phm_agent_pool_keys\{master="a1",slave="b1"\} \d+$/m);
    assert.match(page, /^phm_agent_answers_total\{status="401"\} \d+$/m);
    assert.equal((await fetch(`${a.stateUrl}/healthz`)).status, 200);
    assert.equal((await fetch(`${a.stateUrl}/readyz`)).status, 200);
    assert.equal((await fetch(`${a.stateUrl}/x`)).status, 404);
    const state = join(siteA.folder, 'state');
    const files = readdirSync(state).filter((name) => name !== 'lock');
    assert.deepEqual(files, ['journal']);
    const written = [page, ...a.lines, readFileSync(join(state, 'journal'), 'latin1')].join('\n');
    for (const form of [
      key,
      Buffer.from(key, 'base64').toString('hex'),
      Buffer.from(key, 'base64').toString('latin1'),
    ]) {
      assert.ok(!written.includes(form));
    }
  });

  it('run once for a state directory', async () => {
    await assert.rejects(agents.start(siteA), LockedError);
  });

  it('answer 503 during an outage that is longer than the pool, and keep what was handed out after a restart', async () => {
    const { json } = await call(keys(a, 'b1/enc_keys'), agents.client('a1'));
    const [{ key_ID }] = json.keys;
    agents.service.isDown = true;
    // Whatever the pool holds, it comes to its end.
    const body = JSON.stringify({ number: 128 });
    const take = () => call(keys(a, 'b1/enc_keys'), agents.client('a1'), { body });
    let { status } = await take();
    while (status === 200) ({ status } = await take());
    assert.equal(status, 503);
    agents.service.heal();
    await a.stop();
    a = await agents.start(siteA);
    const read = await call(keys(b, `a1/dec_keys?key_ID=${key_ID}`), agents.client('b1'));
    assert.equal(read.status, 200);
    const own = await call(keys(a, `a1/dec_keys?key_ID=${key_ID}`), agents.client('a1'));
    assert.equal(own.status, 400);
  });
});
