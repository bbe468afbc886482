/** `/readyz` names the dependency that fails, and only that one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Readiness, StartingService } from '../../../src/service/index.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';
import { STAGED } from '../../support/servers/fakes.ts';
import { DEMO_KEY } from '../../support/servers/server.ts';

const SOURCE = {
  name: 'os',
  kind: 'system',
  state: 'delivering',
  healthy: true,
  creditBitsPerDraw: 256,
  draws: 0,
  failures: 0,
} as const;

const WELL: Readiness = {
  ready: true,
  entropy: true,
  generator: 'ok',
  latched: null,
  ledger: true,
  ownLedger: true,
  secret: 'ok',
  log: 'ok',
  sources: [SOURCE],
};

const CHECKS = {
  entropy: 'ok',
  'entropy:os': 'ok',
  generator: 'ok',
  ledger: 'ok',
  master_secret: 'ok',
  accepting: 'yes',
};

async function ask(readiness: Readiness, draining = false) {
  const app = await buildTestApp({
    service: standInService('research', { checkReadiness: () => readiness }),
    isDraining: () => draining,
  });
  const response = await app.inject({ url: '/readyz' });
  await app.close();
  return { code: response.statusCode, ...response.json() };
}

describe('/readyz', () => {
  it('reports ok for every check', async () => {
    const { code, status, checks } = await ask(WELL);
    assert.deepEqual([code, status, checks], [200, 'ok', CHECKS]);
  });

  const failing: [string, Partial<Readiness>, Record<string, string>][] = [
    [
      'an entropy source',
      { entropy: false, sources: [{ ...SOURCE, state: 'failing', healthy: false }] },
      { entropy: 'unavailable', 'entropy:os': 'unavailable' },
    ],
    [
      'the latch',
      { entropy: false, generator: 'latched', latched: STAGED },
      { entropy: 'unavailable', generator: 'latched' },
    ],
    ['the ledger', { ledger: false }, { ledger: 'unavailable' }],
    [
      'a master secret that lacks a version',
      { secret: 'incomplete' },
      { master_secret: 'incomplete' },
    ],
    ['a retired master secret', { secret: 'retired' }, { master_secret: 'retired' }],
    ['a fork of the log', { log: 'forked' }, { transparency_log: 'forked' }],
  ];
  for (const [what, changes, words] of failing) {
    it(`names ${what} as the cause of 503`, async () => {
      const { code, status, success, checks } = await ask({ ...WELL, ready: false, ...changes });
      assert.deepEqual([code, status, success], [503, 'unavailable', false]);
      assert.deepEqual(checks, { ...CHECKS, ...words });
    });
  }

  it('names only the cause and the test of a latch', async () => {
    assert.equal((await ask(WELL)).latch, undefined);
    const { latch } = await ask({
      ...WELL,
      ready: false,
      entropy: false,
      generator: 'latched',
      latched: STAGED,
    });
    assert.deepEqual(latch, { cause: 'gate', test: 'rank' });
  });

  it('reports draining during shutdown, whatever else is true', async () => {
    const { code, status, checks } = await ask(WELL, true);
    assert.deepEqual([code, status, checks.accepting], [503, 'draining', 'no']);
  });

  it('answers while startup waits for the database; requests get 503 ledger_unavailable', async () => {
    const app = await buildTestApp({ service: new StartingService(), demoKeys: 'admit' });
    const [live, ready, key] = await Promise.all([
      app.inject('/livez'),
      app.inject('/readyz'),
      app.inject({
        method: 'POST',
        url: '/api/v2/generate',
        headers: { 'x-api-key': DEMO_KEY },
        payload: { security_level: 256 },
      }),
    ]);
    await app.close();
    assert.equal(live.statusCode, 200);
    assert.deepEqual(
      [ready.statusCode, ready.json().checks],
      [
        503,
        {
          entropy: 'starting',
          generator: 'starting',
          ledger: 'unavailable',
          master_secret: 'ok',
          accepting: 'yes',
        },
      ],
    );
    assert.deepEqual(
      [key.statusCode, key.json().code, key.headers['retry-after']],
      [503, 'ledger_unavailable', '5'],
    );
  });

  it('has no limit for the start of its parts, which ended it on a busy machine', async () => {
    const app = await buildTestApp({ service: standInService('research') });
    assert.equal(app.initialConfig.pluginTimeout, 0);
    await app.close();
  });
});
