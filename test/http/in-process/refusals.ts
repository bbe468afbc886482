/** Requests without a valid API key are limited by address, and so are their log lines. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, it, mock } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import { hashApiKey, newApiKey, RateLimiter } from '../../../src/accounts/index.ts';
import { AppError } from '../../../src/errors.ts';
import { addressBlock } from '../../../src/http/client-address.ts';
import type { KeyService } from '../../../src/service/index.ts';
import { openMetrics } from '../../../src/telemetry/index.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';

const VALID = newApiKey('live');
const LOOPBACK = { address: '127.0.0.0', prefix: 8, family: 'ipv4' } as const;
const BURST = 100;

/** An application that accepts one API key, with its log and its metrics. */
async function makeApp(more: Partial<KeyService> = {}) {
  const known = standInService('enterprise');
  const service = standInService('enterprise', {
    authenticate: async (hash, address) =>
      hashApiKey(VALID).equals(hash) ? known.authenticate(hash, address) : undefined,
    series: async () => [],
    ...more,
  });
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  const metrics = await openMetrics({ sources: ['os'], ledgerBackend: 'sqlite' });
  const app = await buildTestApp({ service, logger, metrics, trustedProxies: [LOOPBACK] });
  const ask = (apiKey: string | undefined, client = '192.0.2.1') =>
    app.inject({
      url: '/api/v2/metrics/series',
      headers: { host: 'phm', 'x-forwarded-for': client, ...(apiKey && { 'x-api-key': apiKey }) },
    });
  const counter = async (name: string) =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await metrics.expose())?.[1]);
  return { app, ask, lines, counter };
}

describe('a request without a valid API key', () => {
  // The clock stands still, so no bucket refills.
  before(() => mock.method(process.hrtime, 'bigint', () => 10n ** 12n));
  after(() => mock.restoreAll());

  it('is limited by address, which does not limit valid keys from there', async () => {
    const { app, ask, counter } = await makeApp();
    const refused = [undefined, 'mistyped', newApiKey('live')];
    for (let i = 0; i < BURST; i++) {
      assert.equal((await ask(refused[i % refused.length])).statusCode, 401);
    }
    for (const apiKey of refused) {
      const { statusCode, headers, ...answer } = await ask(apiKey);
      const problem = answer.json();
      assert.deepEqual([statusCode, problem.code], [429, 'rate_limited']);
      assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
      assert.match(problem.detail, /address has sent too many requests without a valid API key/);
    }
    assert.equal((await ask(VALID)).statusCode, 200);
    assert.equal((await ask(undefined, '192.0.2.2')).statusCode, 401);
    assert.equal(await counter('phm_address_refusals_total'), refused.length);
    await app.close();
  });

  it('is counted against the whole /64 network of an IPv6 address', async () => {
    const { app, ask } = await makeApp();
    for (let i = 0; i < BURST; i++) await ask(undefined, `2001:db8::${i}`);
    assert.equal((await ask(undefined, '2001:db8::abcd:1')).statusCode, 429);
    assert.equal((await ask(undefined, '2001:db8:0:1::1')).statusCode, 401);
    await app.close();
  });

  it('gets few log lines, and one line that counts the rest by status and code', async () => {
    const failed = new AppError('ledger_unavailable', { reason: 'staged' });
    const broken = newApiKey('live');
    const { app, ask, lines, counter } = await makeApp({
      authenticate: async (hash) => {
        if (hashApiKey(broken).equals(hash)) throw failed;
        return undefined;
      },
    });
    for (let i = 0; i < 3 * BURST; i++) {
      await ask(undefined);
      await ask(broken);
      await app.inject({ url: '/%zz' });
    }
    const written = lines.filter(({ msg }) => String(msg).startsWith('request')).length;
    assert.ok(written < 5 * BURST, `${written} lines`);
    await app.close();
    const { leftOut, msg } = lines.at(-1) as { leftOut: Record<string, number>; msg: string };
    assert.equal(msg, 'requests left out of the log');
    assert.deepEqual(Object.keys(leftOut).sort(), [
      '400 malformed_request',
      '401 missing_api_key',
      '429 rate_limited',
      '503 ledger_unavailable',
    ]);
    const counted = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
    assert.equal(await counter('phm_log_lines_left_out_total'), counted);
    // A 503 has two lines: its reason and its status.
    assert.equal(written + counted, 3 * BURST * 4);
  });

  it('does not suppress the log lines of requests with a valid key', async () => {
    const { app, ask, lines } = await makeApp();
    const keyed = () => lines.filter(({ status }) => status === 200).length;
    for (let i = 0; i < 2 * BURST; i++) await ask(undefined);
    for (let i = 0; i < 2 * BURST; i++) await ask(VALID);
    assert.equal(keyed(), 2 * BURST);
    await app.close();
  });

  it('gets few log lines even if it is not HTTP', async () => {
    const { app, lines } = await makeApp();
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    for (let i = 0; i < 2 * BURST; i++) {
      const socket = connect(port, '127.0.0.1').resume();
      socket.end('NONSENSE\r\n\r\n');
      await once(socket, 'close');
    }
    await app.close();
    const requests = lines.filter(({ msg }) => msg === 'request');
    assert.ok(requests.length < 2 * BURST, `${requests.length} lines`);
  });
});

describe('the address block of the limiter', () => {
  it('is an IPv4 address, or the first 64 bits of IPv6 in any notation', () => {
    assert.equal(addressBlock('192.0.2.7'), '192.0.2.7');
    assert.equal(addressBlock(undefined), 'unknown');
    for (const [address, block] of [
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:0DB8:1:2::', '2001:db8:1:2::/64'],
      ['2001:db8::1:2', '2001:db8:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['::', '0:0:0:0::/64'],
      ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
      ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
      ['1:2:3::4:5:192.0.2.1', '1:2:3:0::/64'],
    ] as const) {
      assert.equal(addressBlock(address), block, address);
    }
  });

  it('uses bounded memory', () => {
    const limiter = new RateLimiter(100);
    const once = { ratePerSecond: 1, burst: 1 };
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        limiter.take(address, once, 0);
        for (let i = 0; i < 100; i++) limiter.take(`${address} ${i}`, once, 0);
        // Forgotten after a hundred others, so its bucket is full again.
        assert.ok(limiter.take(address, once, 0).allowed);
        assert.ok(!limiter.take(address, once, 0).allowed);
      }),
      { numRuns: 20 },
    );
  });
});
