/** Log lines and traces of requests: who sent them, why they failed, and which have none. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { pino } from 'pino';
import { newApiKey } from '../../../src/accounts/index.ts';
import { AppError } from '../../../src/errors.ts';
import type { KeyService } from '../../../src/service/index.ts';
import type { Tracing } from '../../../src/telemetry/index.ts';
import type { RequestEnd } from '../../../src/telemetry/request-trace.ts';
import { buildTestApp, READY, standInService } from '../../support/servers/app.ts';

type Line = Record<string, unknown>;

const API_KEY = newApiKey('live');
const KEYED = { host: 'phm', 'x-api-key': API_KEY };
const SERIES = '/api/v2/metrics/series';
const CALLER = { account: 'acct', api_key: 'key' };

/** Builds an application that accepts one API key and keeps its log lines and how its traces end. */
async function makeApp(t: TestContext, more: Partial<KeyService> = {}, level = 'info') {
  const service = standInService('research', {
    series: async () => [],
    checkReadiness: () => ({ ...READY, ready: false }),
    ...more,
  });
  const lines: Line[] = [];
  const logger = pino({ base: null, level }, { write: (line) => lines.push(JSON.parse(line)) });
  const ends: RequestEnd[] = [];
  const trace = { traceId: 'trace', onStage: undefined, end: (how: RequestEnd) => ends.push(how) };
  const tracing: Tracing = { begin: () => trace, close: async () => true };
  const app = await buildTestApp({ service, logger, tracing });
  t.after(() => app.close());
  return { app, lines, ends };
}

/** Returns the fields of a line that say what was answered and to whom. */
function summary({ route, status, code, account, api_key }: Line): Line {
  return { route, status, code, account, api_key };
}

describe('the log line of a request', () => {
  it('names account and API key if the API key is valid, also in refusals', async (t) => {
    const failed = new AppError('ledger_unavailable', { reason: 'staged' });
    const outcomes = [
      async () => [],
      () => Promise.reject(failed),
      () => Promise.reject(Error('x')),
    ];
    const series = () => outcomes.shift()?.() ?? Promise.resolve([]);
    const { app, lines, ends } = await makeApp(t, { series });
    for (let i = 0; i < 3; i++) await app.inject({ url: SERIES, headers: KEYED });
    await app.inject({ url: `${SERIES}?hours=many`, headers: KEYED });
    let limited: Line | undefined;
    while (!limited) {
      await app.inject({ url: SERIES, headers: KEYED });
      limited = lines.find(({ status }) => status === 429);
    }
    const requests = lines.filter(({ msg }) => msg === 'request');
    assert.deepEqual(requests.slice(0, 4).map(summary), [
      { route: SERIES, status: 200, code: undefined, ...CALLER },
      { route: SERIES, status: 503, code: 'ledger_unavailable', ...CALLER },
      { route: SERIES, status: 500, code: 'internal_error', ...CALLER },
      { route: SERIES, status: 400, code: 'invalid_request', ...CALLER },
    ]);
    assert.deepEqual(summary(limited), {
      ...{ route: SERIES, status: 429, code: 'rate_limited' },
      ...CALLER,
    });
    for (const words of ['request failed', 'unexpected error']) {
      const { account, api_key } = lines.find(({ msg }) => msg === words) ?? {};
      assert.deepEqual({ account, api_key }, CALLER, words);
    }
    assert.ok(ends.every(({ accountId, apiKeyId }) => accountId === 'acct' && apiKeyId === 'key'));
    assert.ok(!JSON.stringify([lines, ends]).includes(API_KEY));
  });

  it('names no account without a valid API key, and has the code of every refusal', async (t) => {
    const { app, lines, ends } = await makeApp(t, { authenticate: async () => undefined });
    const headers = { host: 'phm' };
    await app.inject({ url: SERIES, headers });
    await app.inject({ url: SERIES, headers: KEYED });
    await app.inject({ url: '/nowhere', headers: KEYED });
    await app.inject({ method: 'DELETE', url: SERIES, headers: KEYED });
    await app.inject({ url: '/%zz', headers: KEYED });
    await app.inject({ url: '/livez', headers: { ...headers, 'content-encoding': 'gzip' } });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1').resume();
    socket.end('NONSENSE\r\n\r\n');
    await once(socket, 'close');
    const requests = lines.filter(({ msg }) => msg === 'request');
    assert.deepEqual(
      requests.map(({ status, code }) => [status, code]),
      [
        [401, 'missing_api_key'],
        [401, 'invalid_api_key'],
        [404, 'not_found'],
        [405, 'method_not_allowed'],
        [400, 'malformed_request'],
        [415, 'unsupported_media_type'],
        [400, 'malformed_request'],
      ],
    );
    for (const line of requests) assert.ok(!('account' in line) && !('api_key' in line));
    for (const { accountId } of ends) assert.equal(accountId, undefined);
    assert.ok(!JSON.stringify([lines, ends]).includes(API_KEY));
  });
});

describe('a health check', () => {
  const PROBES = ['/livez', '/readyz', '/health'];

  for (const level of ['info', 'debug']) {
    it(`has ${level === 'info' ? 'no line' : 'a line'} at level ${level}, ready or not`, async (t) => {
      const { app, lines } = await makeApp(t, {}, level);
      for (const url of PROBES) {
        for (const method of ['GET', 'HEAD'] as const) await app.inject({ method, url });
      }
      const requests = lines.filter(({ msg }) => msg === 'request');
      const expected = level === 'info' ? [] : [200, 200, 503, 503, 503, 503];
      assert.deepEqual(
        requests.map(({ status }) => status),
        expected,
      );
      assert.ok(requests.every((line) => line.level === 20));
    });
  }

  it('is never counted as left out of the log', async (t) => {
    const { app, lines } = await makeApp(t);
    for (let i = 0; i < 150; i++) await app.inject({ url: '/livez' });
    await app.close();
    assert.deepEqual(
      lines.filter(({ msg }) => msg === 'requests left out of the log'),
      [],
    );
  });
});
