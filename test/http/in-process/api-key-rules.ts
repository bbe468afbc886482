/** Rules of API keys over a fake service: expiry, addresses, limits and last use. `../access-table.ts` has the scopes. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { newApiKey } from '../../../src/accounts/index.ts';
import { utcMonth } from '../../../src/clock.ts';
import type { ApiKeyRules } from '../../../src/ledger/index.ts';
import { buildTestApp, standInService, stopMonotonic } from '../../support/servers/app.ts';

const NOW = Date.UTC(2026, 0, 31, 12);

const NONE: ApiKeyRules = {
  scopes: null,
  expiresMs: null,
  addressRanges: null,
  recipients: null,
  ratePerSecond: null,
  burst: null,
  monthly: null,
  usage: null,
};

interface Ask {
  readonly from?: string;
  readonly forwarded?: string;
  readonly batch?: number;
}

/** Returns an application whose caller has these rules, with a clock that the test sets. */
async function openApp(test: TestContext, rules: Partial<ApiKeyRules>) {
  stopMonotonic(test);
  const clock = { ms: NOW };
  const uses: string[] = [];
  const plain = standInService('research');
  const principal = {
    ...(await plain.authenticate(new Uint8Array(), '')),
    rules: { ...NONE, ...rules },
  };
  const service = Object.assign(plain, {
    authenticate: () => principal,
    noteUse: ({ apiKeyId }: { apiKeyId: string }) => uses.push(apiKeyId),
  });
  const app = await buildTestApp({
    service,
    clock: { nowMs: () => clock.ms } as never,
    trustedProxies: [{ address: '10.0.0.0', prefix: 8, family: 'ipv4' }],
  });
  test.after(() => app.close());
  const apiKey = newApiKey('live');
  const ask = async ({ from = '192.0.2.7', forwarded, batch }: Ask = {}) => {
    const headers = { host: 'x', 'x-api-key': apiKey };
    const answer = await app.inject({
      method: batch === undefined ? 'GET' : 'POST',
      url: batch === undefined ? '/api/v2/metrics?hours=0' : '/api/v2/generate/batch',
      remoteAddress: from,
      headers: { ...headers, ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) },
      ...(batch !== undefined && { payload: { security_level: 128, count: batch } }),
    });
    const { code, detail } = answer.json();
    return { code, detail, headers: answer.headers };
  };
  return { ask, clock, uses };
}

/** What an admitted request gets: its query is wrong. */
const ADMITTED = 'invalid_request';

describe('the rules of an API key', () => {
  it('let it expire by the clock, between two look-ups too', async (t) => {
    const { ask, clock, uses } = await openApp(t, { expiresMs: NOW + 1 });
    assert.equal((await ask()).code, ADMITTED);
    clock.ms = NOW + 1;
    const { code, detail, headers } = await ask();
    assert.equal(code, 'invalid_api_key');
    assert.match(detail, /^This API key expired at 2026-01-31T12:00:00\.001\+00:00\. /);
    assert.equal(headers.ratelimit, undefined);
    assert.deepEqual(uses, ['key']);
  });

  it("admit addresses of its ranges, as the server's proxies report them", async (t) => {
    const addressRanges = ['192.0.2.0/25', '198.51.100.9', '2001:db8:1::/48'];
    const { ask, uses } = await openApp(t, { addressRanges });
    const admitted: Ask[] = [
      { from: '192.0.2.127' },
      { from: '::ffff:192.0.2.1' },
      { from: '2001:db8:1:2::3' },
      { from: '10.1.2.3', forwarded: '198.51.100.9' },
      { from: '10.1.2.3', forwarded: '203.0.113.1, ::ffff:198.51.100.9' },
    ];
    for (const one of admitted) assert.equal((await ask(one)).code, ADMITTED, JSON.stringify(one));
    assert.equal(uses.length, admitted.length);
    const refused: [Ask, string][] = [
      [{ from: '192.0.2.128' }, '192.0.2.128'],
      [{ from: '::ffff:192.0.2.200' }, '192.0.2.200'],
      [{ from: '2001:db8:2::1' }, '2001:db8:2::1'],
      [{ from: '198.51.100.8', forwarded: '198.51.100.9' }, '198.51.100.8'],
      [{ from: '10.1.2.3', forwarded: '198.51.100.9, 203.0.113.1' }, '203.0.113.1'],
      [{ from: '10.1.2.3' }, '10.1.2.3'],
    ];
    for (const [one, address] of refused) {
      const { code, detail, headers } = await ask(one);
      assert.equal(code, 'address_not_allowed', JSON.stringify(one));
      assert.ok(detail.startsWith(`This API key cannot be used from ${address}. `), detail);
      assert.equal(headers.ratelimit, undefined);
    }
    assert.equal(uses.length, admitted.length);
  });

  it('admit no address if a stored range cannot be read', async (t) => {
    const { ask } = await openApp(t, { addressRanges: ['damaged'] });
    assert.equal((await ask()).code, 'address_not_allowed');
  });

  it('limit a flood from a wrong address by the address', async (t) => {
    const { ask } = await openApp(t, { addressRanges: ['198.51.100.9'] });
    const codes = new Set<string>();
    for (let i = 0; i < 101; i++) codes.add((await ask()).code);
    assert.deepEqual([...codes], ['address_not_allowed', 'rate_limited']);
    assert.equal((await ask({ from: '203.0.113.1' })).code, 'address_not_allowed');
    assert.equal((await ask({ from: '198.51.100.9' })).code, ADMITTED);
  });

  it('take a request without the scope from the rate limit, which comes first', async (t) => {
    const { ask, uses } = await openApp(t, { scopes: ['validate'], burst: 2 });
    const codes = [];
    for (let i = 0; i < 3; i++) codes.push((await ask()).code);
    assert.deepEqual(codes, ['insufficient_scope', 'insufficient_scope', 'rate_limited']);
    assert.deepEqual(uses, []);
  });

  for (const [burst, effective] of [
    [3, 3],
    [500, 20],
  ] as const) {
    it(`limit the rate by the lower of its burst, ${burst}, and the plan's`, async (t) => {
      const { ask } = await openApp(t, { burst, ratePerSecond: 0.5 });
      const { headers } = await ask();
      assert.equal(headers['ratelimit-policy'], `"rate";q=${effective};w=${effective * 2}`);
      assert.equal(headers['x-ratelimit-remaining'], String(effective - 1));
      for (let i = 1; i < effective; i++) assert.equal((await ask()).code, ADMITTED);
      const refused = await ask();
      assert.deepEqual([refused.code, refused.headers['retry-after']], ['rate_limited', '2']);
    });
  }

  it('limit a batch by its burst', async (t) => {
    const { ask } = await openApp(t, { burst: 3 });
    await ask();
    const { code, detail } = await ask({ batch: 9 });
    assert.equal(code, 'rate_limited');
    assert.match(detail, /takes 3 of the 3 requests/);
  });
});

describe('the monthly limit of an API key', () => {
  const limit = { month: utcMonth(NOW), used: 4, quota: 4, counterId: 'key' };

  for (const [keys, words] of [
    [1, /^This API key has used its own limit of 4 requests for this month\. Wait/],
    [2, /^A batch of 2 keys takes 2 requests of the API key's own monthly limit, and 1 remains\./],
  ] as const) {
    it(`is named by the refusal of ${keys === 1 ? 'a request' : 'a batch'}`, async (t) => {
      stopMonotonic(t);
      const used = keys === 1 ? 4 : 3;
      const outcome = { kind: 'quota_exceeded', usage: { ...limit, used } };
      const service = standInService('research', {
        usageOf: () => ({ ...limit, used }),
        quotaNowMs: () => NOW,
        generate: async () => outcome as never,
      });
      const app = await buildTestApp({ service });
      const answer = await app.inject({
        method: 'POST',
        url: keys === 1 ? '/api/v2/generate' : '/api/v2/generate/batch',
        headers: { host: 'x', 'x-api-key': newApiKey('live') },
        payload: { security_level: 128, ...(keys > 1 && { count: keys }) },
      });
      assert.equal(answer.json().code, 'quota_exceeded');
      assert.match(answer.json().detail, words);
      assert.match(String(answer.headers['ratelimit-policy']), /"quota";q=4;/);
      await app.close();
    });
  }
});
