/** Setting back the wall clock locks no client out, because limits use the monotonic clock. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newApiKey } from '../../../src/accounts/index.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';

const SUMS = {
  keys: 0,
  latencyUs: 0,
  streams: 0,
  streamsPassed: 0,
  metered: 0,
  failures: 0,
  activeApiKeys: 1,
};

it('the rate limiter ignores a wall clock that is set back an hour', async () => {
  let nowMs = Date.now();
  const app = await buildTestApp({
    service: standInService('research', { activity: async () => SUMS }),
    clock: { nowMs: () => nowMs },
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
