/** Cleartext takes no proxy. Each program runs with the environment that makes Node take one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { PhmClient } from '../../sdk/src/index.ts';
import { answers, ScriptedServer } from '../support/clients/scripted-server.ts';
import { ANY_ANSWER, API_KEY, rejection } from './support.ts';

const PROGRAM = `
import { PhmClient } from ${JSON.stringify(new URL('../../sdk/src/index.ts', import.meta.url).href)};
const ends = [];
for (const baseUrl of process.argv.slice(1)) {
  const phm = new PhmClient({ baseUrl, apiKey: ${JSON.stringify(API_KEY)}, maxRetries: 0 });
  ends.push(await phm.metrics().then(() => 'answered', (error) => error.name + ': ' + error.message));
}
process.stdout.write(JSON.stringify(ends));
`;

describe('with a proxy in the environment', () => {
  let server: ScriptedServer;
  /** Everything that the proxy got. */
  const got: Buffer[] = [];
  const proxy = createServer((socket) => {
    socket.on('data', (chunk: Buffer) => {
      got.push(chunk);
      socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
    });
    socket.on('error', () => undefined);
  });

  before(async () => {
    server = await ScriptedServer.start(answers(ANY_ANSWER));
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
  });
  after(async () => {
    proxy.close();
    await server.stop();
  });

  async function run(env: Record<string, string>, ...urls: string[]): Promise<string[]> {
    const { port } = proxy.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}`;
    const args = ['--input-type=module', '--eval', PROGRAM, ...urls];
    const all = { PATH: process.env.PATH, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, ...env };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: all });
    return JSON.parse(stdout);
  }

  it('a request in the clear goes to this machine directly, and elsewhere not at all', async () => {
    const { port } = new URL(server.address);
    const local = [server.address, `http://localhost:${port}`];
    const remote = ['http://keys.invalid', 'http://127.0.0.1.keys.invalid:8080/phm'];
    const [first, second, ...others] = await run({}, ...local, ...remote);
    assert.deepEqual([first, second], ['answered', 'answered']);
    for (const [i, other] of others.entries()) {
      const { origin, hostname } = new URL(remote[i] ?? '');
      assert.equal(
        other,
        `TypeError: ${origin} is http:, and this program sends requests through a proxy, which would see API key and keys: use https:, or add ${hostname} to NO_PROXY`,
      );
    }
    assert.equal(Buffer.concat(got).toString(), '', 'the proxy got something');
  });

  it('a request to this machine takes no proxy, by whatever name and also with https:', async () => {
    const { port } = proxy.address() as AddressInfo;
    const before = got.length;
    const https = { HTTPS_PROXY: `http://127.0.0.1:${port}`, https_proxy: '' };
    const names = ['localhost', 'localhost.', 'a.localhost', '127.1', '0x7f.1', '0.0.0.0'];
    const hosts = [...names, '[::1]', '[::ffff:127.0.0.1]'];
    const urls = hosts.flatMap((host) => [`https://${host}:1`, `http://${host}:1`]);
    for (const end of await run(https, ...urls)) assert.match(end, /^PhmConnectionError: /);
    assert.equal(got.length, before, 'the proxy got something');
  });

  it('a request to a host of NO_PROXY goes there, and https: takes the proxy', async () => {
    const { port } = proxy.address() as AddressInfo;
    const https = { HTTPS_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: 'a.invalid,.b.invalid' };
    const ends = await run(https, 'http://a.invalid', 'http://x.b.invalid', 'https://keys.invalid');
    for (const end of ends) assert.match(end, /^PhmConnectionError: /);
    const sent = Buffer.concat(got).toString();
    assert.match(sent, /^CONNECT keys\.invalid:443 HTTP\/1\.1\r\n/);
    assert.ok(
      !sent.includes(API_KEY) && !sent.includes('a.invalid') && !sent.includes('b.invalid'),
    );
  });
});

describe('a proxy that the program sets for all requests', () => {
  it('gets no request in the clear', async () => {
    class ProxyAgent {}
    class MyAgent extends ProxyAgent {}
    class Socks5ProxyAgent {}
    const name = Symbol.for('undici.globalDispatcher.2');
    const all = globalThis as unknown as Record<symbol, object | undefined>;
    const before = all[name];
    try {
      for (const agent of [new ProxyAgent(), new MyAgent(), new Socks5ProxyAgent()]) {
        all[name] = agent;
        for (const baseUrl of ['http://keys.invalid', 'http://127.0.0.1:1', 'https://[::1]:1']) {
          const error = await rejection(new PhmClient({ baseUrl }).health());
          assert.ok(error instanceof TypeError);
          assert.match(error.message, /sends requests through a proxy/);
        }
      }
      // A replacement of fetch is the caller's own.
      const fetch = () => Promise.reject(new TypeError('my own'));
      const own = new PhmClient({ baseUrl: 'http://keys.invalid', fetch, maxRetries: 0 });
      assert.match(String(await rejection(own.health())), /^PhmConnectionError/);
    } finally {
      if (before === undefined) Reflect.deleteProperty(all, name);
      else all[name] = before;
    }
  });
});
