/** With `NODE_USE_ENV_PROXY`, Node sends requests through a proxy: none in the clear, and none to this machine. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, setGlobalProxyFromEnv } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { cleartextProxyProblem } from '../../src/config/index.ts';
import { limitProxies } from '../../src/config/outgoing-proxy.ts';
import { answers, ScriptedServer } from '../support/clients/scripted-server.ts';
import { MAIN } from '../support/servers/server.ts';

describe('a proxy in the environment', () => {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end('{}');
  });
  let service: ScriptedServer;
  before(async () => {
    proxy.on('connect', ({ url }, socket) => {
      asked.push(`CONNECT ${url}`);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    service = await ScriptedServer.start(answers({ valid: true, validation_details: {} }));
  });
  after(async () => {
    proxy.close();
    proxy.closeAllConnections();
    await service.stop();
  });

  const start = (args: readonly string[], env: Record<string, string> = {}) => {
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const child = spawn(process.execPath, [MAIN, ...args], {
      env: { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, HTTPS_PROXY: address, ...env },
    });
    child.stdin.end(`${'ab'.repeat(32)}\n`);
    return child;
  };
  const phm = async (args: readonly string[], env: Record<string, string> = {}) => {
    const child = start(args, env);
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return { code: child.exitCode, stderr };
  };

  it('gets no request to this machine, and none in the clear', async () => {
    const apiKey = { PHM_API_KEY: `phmsk_live_${'a'.repeat(40)}` };
    const cleartext = { PHM_ALLOW_CLEARTEXT: 'on', ...apiKey };
    const [here, there, log] = await Promise.all([
      phm(['validate', '--url', service.address]),
      phm(['validate', '--url', 'http://keys.example'], cleartext),
      phm(['log', 'check', 'http://logs.example/log']),
    ]);
    assert.equal(service.received.length, 1, here.stderr);
    for (const { code, stderr } of [there, log]) {
      assert.equal(code, 2, stderr);
      assert.match(
        stderr,
        /HTTP_PROXY names a proxy, which would see the whole request: use https:/,
      );
    }
    assert.deepEqual(asked, []);
  });

  it('gets none to this machine by any of its names', () => {
    const names = ['localhost.', 'a.localhost', '127.1', '0.0.0.0', '[::]', '[::ffff:127.0.0.1]'];
    const env: Record<string, string> = {};
    limitProxies(
      env,
      names.map((name) => `--url=https://${name}:8443/log`),
    );
    for (const name of names) {
      const url = new URL(`http://${name}:8080`);
      assert.ok(env.NO_PROXY?.split(',').includes(url.hostname), name);
      const proxies = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://proxy.example' };
      assert.equal(cleartextProxyProblem(url, proxies), null, name);
    }
    const others = ['localhost.example', '10.0.0.0', '[::2]', '[::ffff:10.0.0.1]'];
    limitProxies(
      env,
      others.map((name) => `https://${name}/log`),
    );
    for (const name of others)
      assert.ok(!env.NO_PROXY?.includes(new URL(`http://${name}`).hostname));
  });

  it('gets none to this machine, nor to what NO_PROXY names, also without an address among the words', () => {
    const env: Record<string, string> = { NO_PROXY: 'b.example', no_proxy: 'a.example' };
    limitProxies(env, []);
    const direct = ['a.example', 'localhost', '127.0.0.1', '::1', '[::1]'];
    assert.deepEqual(env.NO_PROXY?.split(','), direct, 'the lower-case name counts');
    assert.equal(env.no_proxy, env.NO_PROXY);
  });

  it('gets no request in the clear, whatever is exempt from it', async () => {
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const proxies = { HTTP_PROXY: address, http_proxy: address, HTTPS_PROXY: address };
    // Another name than those that NO_PROXY gets. Nothing answers there.
    const other = `http://127.0.0.2:${new URL(service.address).port}/`;
    const call = () => fetch(other, { signal: AbortSignal.timeout(2_000) });
    // As Node does when it starts.
    setGlobalProxyFromEnv(proxies);
    await call();
    assert.deepEqual(asked.splice(0), [`GET ${other}`]);
    limitProxies(proxies, []);
    await assert.rejects(call());
    assert.deepEqual(asked, []);
  });

  it('gets only the address of a request that is encrypted to its end', async () => {
    const child = start(['log', 'check', 'https://logs.example/log']);
    await once(proxy, 'connect');
    child.kill();
    await once(child, 'close');
    assert.deepEqual(asked, ['CONNECT logs.example:443']);
  });
});

describe('the check of a request in the clear', () => {
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://proxy.example:3128' };
  const problem = (address: string, more: Record<string, string> = {}): string | null =>
    cleartextProxyProblem(new URL(address), { ...env, ...more });

  it('refuses only what a proxy would get', () => {
    assert.match(problem('http://keys.example') ?? '', /add keys\.example to NO_PROXY/);
    assert.match(
      problem('http://keys.example', {
        NODE_USE_ENV_PROXY: '0',
        NODE_OPTIONS: '--use-env-proxy',
      }) ?? '',
      /./,
    );
    for (const address of [
      'https://keys.example',
      'http://127.0.0.5:8080',
      'http://[::1]',
      'http://localhost',
    ]) {
      assert.equal(problem(address), null, address);
    }
    assert.equal(problem('http://keys.example', { NODE_USE_ENV_PROXY: '0' }), null);
    assert.equal(problem('http://keys.example', { HTTP_PROXY: '' }), null);
  });

  it('heeds NO_PROXY', () => {
    for (const list of [
      '*',
      'keys.example',
      'a, .example',
      '*.example',
      'KEYS.example:80',
      'a keys.example',
    ]) {
      assert.equal(problem('http://keys.example', { NO_PROXY: list }), null, list);
    }
    for (const list of [
      '',
      'eys.example',
      'keys.example:81',
      'other.example',
      'keys.example.org',
    ]) {
      assert.notEqual(problem('http://keys.example', { NO_PROXY: list }), null, list);
    }
  });
});
