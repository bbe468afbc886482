/** A wall clock that is set back shuts nobody out: limits run on the monotonic clock. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { newApiKey } from '../../src/accounts/index.ts';
import { buildApp } from '../../src/http/app.ts';
import type { KeyService } from '../../src/keys/index.ts';

const USAGE = { month: 0, used: 0, quota: null };
const SUMS = {
  keys: 0,
  latencyUs: 0,
  streams: 0,
  streamsPassed: 0,
  metered: 0,
  failures: 0,
  activeApiKeys: 1,
};

it('does not limit a caller because the wall clock was set back an hour', async () => {
  let nowMs = Date.now();
  const principal = {
    apiKeyId: 'key',
    accountId: 'acct',
    plan: 'research',
    demo: false,
    usage: USAGE,
  };
  const app = await buildApp({
    service: {
      authenticate: async () => principal,
      usageOf: () => USAGE,
      metrics: async () => SUMS,
    } as unknown as KeyService,
    clock: { nowMs: () => nowMs },
    logger: pino({ level: 'silent' }),
    entropySource: 'os',
    entropySources: ['os'],
    demoKeys: 'refuse',
    rateLimits: true,
    tls: null,
    isDraining: () => false,
  });
  const headers = { 'x-api-key': newApiKey('live'), host: 'localhost' };
  const ask = () => app.inject({ method: 'GET', url: '/api/v2/metrics', headers });
  assert.equal((await ask()).statusCode, 200);
  nowMs -= 3_600_000;
  const after = await ask();
  assert.equal(after.statusCode, 200);
  assert.equal(after.headers['x-ratelimit-reset'], '1');
  await app.close();
});
