/** Hooks get events without secrets, and a broken hook breaks no call. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import {
  PhmApiError,
  type PhmClientOptions,
  type RequestEvent,
  type RetryEvent,
} from '../../sdk/src/index.ts';
import { answers, fails } from '../support/clients/scripted-server.ts';
import { ANY_ANSWER, API_KEY, GENERATED, KEY, rejection, withClient } from './support.ts';

describe('a hook', () => {
  it('reports every request and retry without secrets', async () => {
    const requests: RequestEvent[] = [];
    const retries: RetryEvent[] = [];
    const options: Partial<PhmClientOptions> = {
      onRequest: (event) => requests.push(event),
      onRetry: (event) => retries.push(event),
    };
    const steps = [
      fails('overloaded', { 'retry-after': '0' }),
      fails('rate_limited', { 'retry-after': '0' }),
      answers(ANY_ANSWER),
    ];
    await withClient(
      steps,
      async (phm) => {
        await phm.validate({ key: KEY }, { requestId: 'my-own' });
        await phm.metrics({ hours: 5 });
      },
      options,
    );
    const shown = requests.map(({ waitMs, ...event }) => ({ ...event, waited: waitMs >= 0 }));
    const validate = { method: 'POST', path: '/api/v2/validate', requestId: 'my-own' };
    assert.deepEqual(shown, [
      { ...validate, attempt: 1, waited: true },
      { ...validate, attempt: 2, waited: true },
      { ...validate, attempt: 3, waited: true },
      { method: 'GET', path: '/api/v2/metrics', requestId: null, attempt: 1, waited: true },
    ]);
    const codes = retries.map(({ error, attempt, waitMs }) => {
      assert.ok(error instanceof PhmApiError && waitMs >= 0);
      return [attempt, error.code];
    });
    assert.deepEqual(codes, [
      [1, 'overloaded'],
      [2, 'rate_limited'],
    ]);
    const all = inspect([requests, retries], { depth: 9, showHidden: true });
    assert.ok(!all.includes(API_KEY) && !all.includes(KEY));
  });

  it('can abort the call, which then ends at once', { timeout: 20_000 }, async () => {
    for (const hook of ['onRequest', 'onRetry'] as const) {
      const controller = new AbortController();
      const { signal } = controller;
      const options = { [hook]: () => controller.abort('enough') };
      await withClient(
        [fails('overloaded', { 'retry-after': '29' })],
        async (phm, server) => {
          assert.equal(await rejection(phm.metrics({}, { signal })), 'enough');
          assert.equal(server.received.length, hook === 'onRequest' ? 0 : 1);
          assert.deepEqual(getEventListeners(signal, 'abort'), []);
        },
        options,
      );
    }
  });

  it('may throw or reject without an effect on the call', async () => {
    const options: Partial<PhmClientOptions> = {
      onRequest: () => {
        throw new Error('broken logger');
      },
      onRetry: async () => {
        throw new Error('broken logger');
      },
    };
    const steps = [fails('overloaded', { 'retry-after': '0' }), answers(GENERATED)];
    await withClient(
      steps,
      async (phm, server) => {
        assert.equal((await phm.generate({ security_level: 256 })).key, KEY);
        assert.equal(server.received.length, 2);
      },
      options,
    );
  });
});
