/** The dashboard's files: which are served, how they are cached, and which cannot be reached. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get as ask, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../../src/errors.ts';
import {
  INDEX_HTML,
  makeDashboardFolder,
  removeDashboardFolder,
  SCRIPT,
} from '../../support/browsers/dashboard-folder.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';
import { DEMO_KEY } from '../../support/servers/server.ts';

const ASSET = '/assets/index-1a2b3c4d.js';
const folder = makeDashboardFolder();
let app: FastifyInstance;

before(async () => {
  app = await buildTestApp({ service: standInService('enterprise'), dashboardFolder: folder });
  await app.listen({ host: '127.0.0.1', port: 0 });
});
after(async () => {
  await app.close();
  removeDashboardFolder(folder);
});

function get(url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  return app.inject({ method, url, headers });
}

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('the root address', () => {
  it('serves the dashboard to browsers', async () => {
    const { statusCode, headers, body } = await get('/', BROWSER);
    assert.equal(statusCode, 200);
    assert.match(String(headers['content-type']), /^text\/html/);
    assert.equal(headers['cache-control'], 'no-cache');
    assert.match(String(headers.vary), /\bAccept\b,.*accept-encoding/i);
    assert.equal(body, INDEX_HTML);
  });

  it('serves an index of addresses to programs', async () => {
    for (const accept of ['*/*', 'application/json', '']) {
      const { statusCode, headers, body } = await get('/', accept ? { accept } : {});
      assert.equal(statusCode, 200);
      assert.match(String(headers['content-type']), /^application\/json/);
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers.vary, 'Accept');
      const { success, timestamp, links } = JSON.parse(body);
      assert.equal(success, true);
      assert.match(timestamp, /\+00:00$/);
      assert.deepEqual(links, {
        dashboard: '/',
        documentation: '/docs',
        openapi: '/api/v2/openapi.json',
        health: '/health',
      });
      for (const link of Object.values<string>(links)) {
        assert.notEqual((await get(link, BROWSER)).statusCode, 404, link);
      }
    }
  });

  it('serves no demo key while the ledger cannot validate it', async () => {
    const authenticate = () => Promise.reject(new AppError('ledger_unavailable'));
    const service = standInService('enterprise', { authenticate });
    const lame = await buildTestApp({ service, demoKeys: 'admit', demoApiKey: () => DEMO_KEY });
    const answer = await lame.inject('/');
    assert.deepEqual([answer.statusCode, answer.json().demo_api_key], [200, null]);
    await lame.close();
  });

  it('says how to build a missing dashboard', async () => {
    const bare = await buildTestApp({ service: standInService('enterprise') });
    const page = await bare.inject({ url: '/', headers: BROWSER });
    assert.equal(page.statusCode, 404);
    assert.match(page.json().detail, /not built\. Run "npm run build"/);
    const index = (await bare.inject('/')).json();
    assert.equal(index.links.dashboard, undefined);
    assert.equal(index.links.documentation, '/docs');
    await bare.close();
  });
});

describe('a static file', () => {
  it('restricts what the page may load and where it may be framed', async () => {
    for (const url of ['/', '/index.html', ASSET]) {
      const { headers } = await get(url, BROWSER);
      assert.equal(
        headers['content-security-policy'],
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
      );
      assert.equal(headers['referrer-policy'], 'no-referrer');
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
      assert.match(String(headers['permissions-policy']), /camera=\(\)/);
      assert.equal(headers['set-cookie'], undefined);
      assert.equal(headers['access-control-allow-origin'], undefined);
    }
  });

  it('is served in the encoding that the client accepts, with Vary', async () => {
    const forms: [string, string | undefined, (body: Buffer) => Buffer][] = [
      ['br, gzip', 'br', brotliDecompressSync],
      ['gzip, deflate', 'gzip', gunzipSync],
      ['identity', undefined, (body) => body],
      ['', undefined, (body) => body],
    ];
    for (const [accepted, coding, decode] of forms) {
      const answer = await get(ASSET, accepted ? { 'accept-encoding': accepted } : {});
      assert.equal(answer.headers['content-encoding'], coding, accepted);
      assert.match(String(answer.headers['content-type']), /^(text|application)\/javascript/);
      assert.match(String(answer.headers.vary), /accept-encoding/i);
      assert.equal(decode(answer.rawPayload).toString(), SCRIPT);
    }
  });

  it('is cached for ever if its name has a hash, and is revalidated otherwise', async () => {
    const asset = await get(ASSET);
    assert.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable');
    for (const url of ['/index.html', '/icon.svg']) {
      const { headers } = await get(url);
      assert.equal(headers['cache-control'], 'no-cache');
      const again = await get(url, { 'if-none-match': String(headers.etag) });
      assert.equal(again.statusCode, 304);
      assert.equal(again.body, '');
    }
    const [plain, brotli] = await Promise.all([
      get(ASSET),
      get(ASSET, { 'accept-encoding': 'br' }),
    ]);
    assert.notEqual(plain.headers.etag, brotli.headers.etag);
  });

  it('answers HEAD with the headers of GET, and other methods with 405', async () => {
    for (const url of ['/', '/index.html', ASSET]) {
      const head = await get(url, BROWSER, 'HEAD');
      assert.equal(head.statusCode, 200);
      assert.equal(head.body, '');
      assert.equal(
        head.headers['content-length'],
        (await get(url, BROWSER)).headers['content-length'],
      );
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
        const refused = await app.inject({ method, url });
        assert.equal(refused.statusCode, 405, `${method} ${url}`);
        assert.equal(refused.headers.allow, 'GET, HEAD');
      }
    }
  });

  it('is served by its exact path only: no dot files, compressed names, traversal or folders', async () => {
    const { port } = app.server.address() as AddressInfo;
    for (const path of [
      ...['/.env', '/index.html.br', `${ASSET}.gz`, '/assets', '/assets/', '/assets/nope.js'],
      ...['/../package.json', '/%2e%2e/package.json', '/assets/..%2f..%2fpackage.json', '/%2eenv'],
      ...['//index.html', '/./index.html', '/assets%2findex-1a2b3c4d.js%00', '/index.html/'],
      ...['//evil.example', '//evil.example/..', '/%5cevil.example', '/livez/'],
    ]) {
      // Sent raw, because fetch and inject would normalise the path.
      const request = ask({ host: '127.0.0.1', port, path, headers: BROWSER });
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      assert.equal(answer.statusCode, 404, path);
      assert.match(String(answer.headers['content-type']), /^application\/problem\+json/, path);
      assert.equal(answer.headers['cache-control'], 'no-store', path);
      assert.equal(JSON.parse(await text(answer)).code, 'not_found');
    }
  });
});

describe('/testbench', () => {
  it('serves the test bench with a policy that forbids every request', async () => {
    const start = await get('/testbench');
    assert.deepEqual([start.statusCode, start.headers.location], [308, 'testbench/']);
    const { statusCode, headers, body } = await get('/testbench/', BROWSER);
    assert.deepEqual([statusCode, headers['cache-control']], [200, 'no-cache']);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; .*connect-src 'none'.*; frame-ancestors 'none'$/);
    assert.doesNotMatch(policy, /'self'|'unsafe-(inline|eval)'/);
    assert.ok(body.includes(policy.replace("; frame-ancestors 'none'", '')));
  });
});
