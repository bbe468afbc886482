/** Everything below a base path, through a proxy that passes the path on. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { newApiKey } from '../../../src/accounts/index.ts';
import {
  INDEX_HTML,
  makeDashboardFolder,
  removeDashboardFolder,
} from '../../support/browsers/dashboard-folder.ts';
import { buildTestApp, READY, standInService } from '../../support/servers/app.ts';

const folder = makeDashboardFolder();
const SUMS = {
  keys: 0,
  latencyUs: 0,
  streams: 0,
  streamsPassed: 0,
  failures: 0,
  metered: 0,
  activeApiKeys: 1,
};
const service = standInService('enterprise', {
  activity: async () => SUMS,
  checkReadiness: () => READY,
});
let app: FastifyInstance;
let proxy: Server;
let origin: string;

before(async () => {
  app = await buildTestApp({ service, basePath: '/security/phm', dashboardFolder: folder });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  // The proxy passes on only paths below the prefix, under another host name.
  proxy = createServer((request, response) => {
    const { url: path = '', method, headers } = request;
    if (!path.startsWith('/security/phm')) {
      response.writeHead(502).end();
      return;
    }
    const passed = { ...headers, 'x-forwarded-for': '192.0.2.7', host: 'public.example' };
    const outer = forward({ host: '127.0.0.1', port, path, method, headers: passed }, (inner) => {
      response.writeHead(inner.statusCode ?? 502, inner.headers);
      inner.pipe(response);
    });
    request.pipe(outer);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
after(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await app.close();
  removeDashboardFolder(folder);
});

const BROWSER = { headers: { accept: 'text/html' } };

describe('a base path', () => {
  it('serves the dashboard, documentation and API through a proxy', async () => {
    const page = await fetch(`${origin}/security/phm/`, BROWSER);
    assert.equal(await page.text(), INDEX_HTML);
    const script = new URL('./assets/index-1a2b3c4d.js', page.url);
    assert.equal((await fetch(script)).status, 200);
    const keyed = { headers: { 'X-API-Key': newApiKey('live') } };
    assert.equal((await fetch(`${origin}/security/phm/api/v2/metrics`, keyed)).status, 200);
    for (const probe of ['livez', 'readyz', 'health']) {
      assert.equal((await fetch(`${origin}/security/phm/${probe}`)).status, 200);
    }
  });

  it('serves every file that the documentation page references', async () => {
    for (const start of ['/security/phm/docs', '/security/phm/docs/']) {
      const page = await fetch(`${origin}${start}`, BROWSER);
      assert.equal(page.status, 200);
      assert.equal(page.url, `${origin}/security/phm/docs/`);
      const named = [...(await page.text()).matchAll(/(?:src|href)="([^"#]+)"/g)];
      assert.ok(named.length > 100, `${named.length} addresses`);
      for (const [, address = ''] of named) {
        const url = new URL(address, page.url);
        assert.ok(url.href.startsWith(`${origin}/security/phm/`), address);
        assert.equal((await fetch(url)).status, 200, url.href);
      }
    }
  });

  it('resolves the addresses of the OpenAPI document for generated clients', async () => {
    const url = `${origin}/security/phm/api/v2/openapi.json`;
    const document = (await (await fetch(url)).json()) as {
      servers: { url: string }[];
      paths: Record<string, unknown>;
    };
    const base = new URL(document.servers[0]?.url ?? '', url).href;
    assert.equal(base, `${origin}/security/phm`);
    for (const path of ['/api/v2/generate', '/api/v2/validate', '/api/v2/metrics', '/readyz']) {
      assert.ok(document.paths[path], path);
    }
    assert.ok(Object.keys(document.paths).every((path) => !path.startsWith('/security')));
    const health = await fetch(`${base}/health`);
    assert.equal(health.status, 200);
  });

  it('is included in every address of the index', async () => {
    const { links } = (await (await fetch(`${origin}/security/phm/`)).json()) as {
      links: Record<string, string>;
    };
    assert.equal(links.documentation, '/security/phm/docs');
    for (const link of Object.values(links)) {
      assert.equal((await fetch(new URL(link, origin), BROWSER)).status, 200, link);
    }
  });

  it('redirects its path without the trailing slash by a relative address', async () => {
    for (const path of ['/security/phm', '/security/phm?x=//evil.example']) {
      const answer = await fetch(`${origin}${path}`, { redirect: 'manual' });
      assert.equal(answer.status, 308);
      assert.equal(answer.headers.get('location'), 'phm/');
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
    const followed = await fetch(`${origin}/security/phm`, BROWSER);
    assert.equal(followed.url, `${origin}/security/phm/`);
    assert.equal(followed.status, 200);
  });

  it('leaves only the probes at the root', async () => {
    const get = async (url: string) => (await app.inject({ url, ...BROWSER })).statusCode;
    for (const probe of ['/livez', '/readyz', '/health']) assert.equal(await get(probe), 200);
    for (const url of [
      ...['/', '/docs', '/docs/', '/index.html', '/api/v2/metrics', '/api/v2/openapi.json'],
      ...['/security', '/security/', '//security/phm', '/security//phm/', '/security/phm//'],
      ...['/security/phm/docs/x', '//evil.example/security/phm'],
    ]) {
      assert.equal(await get(url), 404, url);
    }
  });

  it('answers 405 with Allow for a wrong method', async () => {
    const { statusCode, headers } = await app.inject('/security/phm/api/v2/generate');
    assert.equal(statusCode, 405);
    assert.equal(headers.allow, 'POST');
    const bare = await app.inject({ method: 'POST', url: '/security/phm' });
    assert.equal(bare.statusCode, 405);
  });
});
