/** `RateLimit-Policy` and `RateLimit`: lists of the limits that an account has. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newApiKey, quotaPeriod } from '../../../src/accounts/index.ts';
import { utcMonth } from '../../../src/clock.ts';
import { buildTestApp, standInService, stopMonotonic } from '../../support/servers/app.ts';

const NOW = Date.UTC(2026, 0, 31, 12);

describe('the headers of limits', () => {
  for (const rateLimits of [false, true]) {
    for (const quota of [null, 1_000]) {
      it(`list ${rateLimits ? 'the' : 'no'} rate limit and ${quota ?? 'no'} quota`, async (t) => {
        stopMonotonic(t);
        const usage = { month: utcMonth(NOW), used: 5, quota };
        const after = { ...usage, used: 6 };
        const service = standInService('research', {
          usageOf: () => usage,
          quotaNowMs: () => NOW,
          validate: async () => ({ kind: 'quota_exceeded', usage: after }) as never,
        });
        const app = await buildTestApp({ service, rateLimits });
        const ask = (method: 'GET' | 'POST', url: string) =>
          app.inject({
            method,
            url,
            headers: { host: 'x', 'x-api-key': newApiKey('live') },
            ...(method === 'POST' && { payload: { key: 'a' } }),
          });
        const { lengthSeconds, secondsLeft } = quotaPeriod(usage, NOW);
        const policies = [
          ...(rateLimits ? ['"rate";q=20;w=2'] : []),
          ...(quota ? [`"quota";q=${quota};w=${lengthSeconds}`] : []),
        ];
        const limits = (left: number, used: number) => [
          ...(rateLimits ? [`"rate";r=${left};t=1`] : []),
          ...(quota ? [`"quota";r=${quota - used};t=${secondsLeft}`] : []),
        ];
        const expect = (list: string[]) => (list.length === 0 ? undefined : list.join(', '));
        const { headers } = await ask('GET', '/api/v2/metrics?hours=0');
        assert.equal(headers['ratelimit-policy'], expect(policies));
        assert.equal(headers.ratelimit, expect(limits(19, 5)));
        assert.equal(headers['x-ratelimit-remaining'], rateLimits ? '19' : undefined);
        // A metered request renews the quota alone.
        const metered = (await ask('POST', '/api/v2/validate')).headers;
        assert.equal(metered.ratelimit, expect(limits(18, 6)));
        await app.close();
      });
    }
  }
});
