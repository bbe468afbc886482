/** Plans of a file in answers: their limits, and an account whose plan this server lacks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newApiKey } from '../../../src/accounts/index.ts';
import { utcMonth } from '../../../src/clock.ts';
import { PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';

const NOW = Date.UTC(2026, 0, 31, 12);

/** Returns an application whose callers are on the plan "team", which it may lack, and a request to it. */
async function openApp(plans = PUBLISHED_PLANS) {
  const service = standInService('team', {
    usageOf: () => ({ month: utcMonth(NOW), used: 0, quota: null }),
    quotaNowMs: () => NOW,
  });
  const app = await buildTestApp({ service, plans });
  const headers = { host: 'x', 'x-api-key': newApiKey('live') };
  return { app, ask: () => app.inject({ url: '/api/v2/metrics?hours=0', headers }) };
}

describe('plans of a file', () => {
  it('give the limits in the headers', async () => {
    const team = { label: 'Team', monthlyQuota: null, ratePerSecond: 0.5, burst: 3 };
    const { app, ask } = await openApp(new Map([...PUBLISHED_PLANS, ['team', team]]));
    const { headers } = await ask();
    assert.equal(headers['ratelimit-policy'], '"rate";q=3;w=6');
    assert.equal(headers['x-ratelimit-limit'], '3');
    await app.close();
  });

  it('that this server lacks refuse their accounts with 503 and then 429', async () => {
    const { app, ask } = await openApp();
    const answer = await ask();
    assert.equal(answer.statusCode, 503);
    assert.equal(answer.json().code, 'unknown_plan');
    // The log names account and plan.
    assert.doesNotMatch(answer.body, /acct|team/);
    assert.equal(answer.headers['retry-after'], '60');
    const codes = [];
    for (let i = 0; i < 30; i++) codes.push((await ask()).json().code);
    assert.ok(codes.includes('rate_limited'), codes.join());
    await app.close();
  });
});
