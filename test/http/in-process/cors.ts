/** Web pages of other origins get no CORS headers unless the operator names their origin. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { newApiKey } from '../../../src/accounts/index.ts';
import { buildTestApp, READY, standInService } from '../../support/servers/app.ts';

const PAGE = 'https://app.example';
const OTHER_PAGE = 'http://localhost:5173';
const STRANGER = 'https://evil.example';

const keyHash = newApiKey('live');
let app: FastifyInstance;
let closed: FastifyInstance;
let asked = 0;

before(async () => {
  const service = standInService('research', {
    activity: async () => {
      throw new Error('a stand-in without metrics');
    },
    checkReadiness: () => READY,
  });
  const authenticate = service.authenticate.bind(service);
  service.authenticate = async (hash, address) => {
    asked += 1;
    return authenticate(hash, address);
  };
  app = await buildTestApp({ service, corsOrigins: [PAGE, OTHER_PAGE] });
  closed = await buildTestApp({ service });
});
after(() => Promise.all([app.close(), closed.close()]));

const preflight = (origin: string, method = 'POST') => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': 'content-type,x-api-key,x-request-id',
});

function corsHeadersOf(headers: Record<string, unknown>): string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'));
}

describe('a server without allowed origins', () => {
  it('sends no CORS header and treats OPTIONS like any other method', async () => {
    for (const url of ['/api/v2/generate', '/api/v2/metrics', '/livez']) {
      const { statusCode, headers } = await closed.inject({
        method: 'OPTIONS',
        url,
        headers: preflight(PAGE),
      });
      assert.equal(statusCode, 405);
      assert.deepEqual(corsHeadersOf(headers), []);
      assert.equal(headers.vary, undefined);
    }
    const { headers } = await closed.inject({ url: '/livez', headers: { origin: PAGE } });
    assert.deepEqual(corsHeadersOf(headers), []);
    assert.equal(headers.vary, undefined);
  });
});

describe('a preflight', () => {
  it('tells an allowed page which methods and headers it may use, without an API key', async () => {
    const before = asked;
    for (const [url, methods] of [
      ['/api/v2/generate', 'POST'],
      ['/api/v2/metrics', 'GET, HEAD'],
    ] as const) {
      for (const origin of [PAGE, OTHER_PAGE]) {
        const { statusCode, headers, body } = await app.inject({
          method: 'OPTIONS',
          url,
          headers: preflight(origin),
        });
        assert.equal(statusCode, 204);
        assert.equal(body, '');
        assert.equal(headers['access-control-allow-origin'], origin);
        assert.equal(headers['access-control-allow-methods'], methods);
        assert.equal(
          headers['access-control-allow-headers'],
          'X-API-Key, Content-Type, X-Request-Id, Prefer, Idempotency-Key',
        );
        assert.equal(headers['access-control-max-age'], '600');
        assert.equal(headers['access-control-allow-credentials'], undefined);
        assert.equal(headers.vary, 'Origin');
        assert.equal(headers.ratelimit, undefined);
      }
    }
    assert.equal(asked, before, 'no API key is looked up');
  });

  it('answers other origins with 405 and no CORS header', async () => {
    for (const origin of [
      STRANGER,
      'null',
      `${PAGE}.evil.example`,
      PAGE.toUpperCase(),
      `${PAGE}/`,
    ]) {
      const { statusCode, headers } = await app.inject({
        method: 'OPTIONS',
        url: '/api/v2/generate',
        headers: preflight(origin),
      });
      assert.equal(statusCode, 405, origin);
      assert.deepEqual(corsHeadersOf(headers), [], origin);
      assert.equal(headers.vary, 'Origin');
    }
  });

  it('is answered only for known addresses and only with the preflight headers', async () => {
    const unknown = { method: 'OPTIONS', url: '/nope', headers: preflight(PAGE) } as const;
    assert.equal((await app.inject(unknown)).statusCode, 404);
    const plain = { method: 'OPTIONS', url: '/livez', headers: { origin: PAGE } } as const;
    assert.equal((await app.inject(plain)).statusCode, 405);
  });
});

describe('a cross-origin answer', () => {
  const exposed = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await app.inject({ url, headers: { origin: PAGE, ...headers } });
    assert.equal(answer.headers['access-control-allow-origin'], PAGE, url);
    assert.equal(answer.headers.vary, url === '/' ? 'Origin, Accept' : 'Origin', url);
    const names = String(answer.headers['access-control-expose-headers']).toLowerCase().split(', ');
    for (const name of ['ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id']) {
      assert.ok(names.includes(name), name);
    }
    assert.ok(names.includes('preference-applied'));
    assert.ok(names.includes('idempotent-replayed'));
    return answer;
  };

  it('is readable by an allowed page, including errors of every kind', async () => {
    assert.equal((await exposed('/livez')).statusCode, 200);
    assert.equal((await exposed('/')).statusCode, 200);
    assert.equal((await exposed('/api/v2/metrics')).statusCode, 401);
    assert.equal((await exposed('/nope')).statusCode, 404);
    assert.equal((await exposed('/%zz')).statusCode, 400);
    const key = { 'x-api-key': keyHash };
    assert.equal((await exposed('/api/v2/metrics?hours=0', key)).statusCode, 400);
    assert.equal((await exposed('/api/v2/metrics', key)).statusCode, 500);
    const limited = async () => (await exposed('/api/v2/metrics?hours=0', key)).statusCode;
    const codes = await Promise.all(Array.from({ length: 60 }, limited));
    assert.ok(codes.includes(429), 'the rate limit was met');
  });

  it('has no CORS header for other origins, and varies by Origin', async () => {
    for (const headers of [{ origin: STRANGER }, {}]) {
      const answer = await app.inject({ url: '/livez', headers });
      assert.equal(answer.statusCode, 200);
      assert.deepEqual(corsHeadersOf(answer.headers), []);
      assert.equal(answer.headers.vary, 'Origin');
    }
  });

  it('is readable for an unknown expectation, which the framework never sees', async () => {
    await app.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(
      `GET /livez HTTP/1.1\r\nHost: x\r\nOrigin: ${PAGE}\r\nExpect: tea\r\nConnection: close\r\n\r\n`,
    );
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'close');
    const text = Buffer.concat(chunks).toString();
    assert.match(text, /^HTTP\/1\.1 417 /);
    assert.match(text, /access-control-allow-origin: https:\/\/app\.example\r\n/i);
  });
});
