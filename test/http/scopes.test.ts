import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FastifyInstance, fastify, type onRequestHookHandler } from 'fastify';
import { checkScopes } from '../../src/http/scopes.ts';

/** Returns an application whose authenticator notes the scopes that it checks. */
function appWith(): { app: FastifyInstance; steps: string[] } {
  const app = fastify();
  const steps: string[] = [];
  const check =
    (scopes: readonly string[]): onRequestHookHandler =>
    (_request, _reply, done) => {
      steps.push(`checks ${scopes.join(' or ')}`);
      done();
    };
  checkScopes(app, { check });
  return { app, steps };
}

describe('the scope of a route', () => {
  it('is checked before anything else of the route, once, also for HEAD', async () => {
    const { app, steps } = appWith();
    const onRequest: onRequestHookHandler = (_request, _reply, done) => {
      steps.push('hook of the route');
      done();
    };
    app.get('/keyed', { config: { scope: 'read' }, onRequest }, async () => 'answer');
    for (const method of ['GET', 'HEAD'] as const) {
      assert.equal((await app.inject({ method, url: '/keyed' })).statusCode, 200);
      assert.deepEqual(steps.splice(0), ['checks read', 'hook of the route'], method);
    }
    await app.close();
  });

  it('may be one of several', async () => {
    const { app, steps } = appWith();
    app.get('/either', { config: { scope: ['generate', 'read'] } }, async () => 'answer');
    assert.equal((await app.inject('/either')).statusCode, 200);
    assert.deepEqual(steps, ['checks generate or read']);
    await app.close();
  });

  it('is checked below other prefixes too', async () => {
    const { app, steps } = appWith();
    app.register(
      async (inner) => {
        inner.get('/keyed', { config: { scope: 'read' } }, async () => 'answer');
      },
      { prefix: '/api' },
    );
    assert.equal((await app.inject('/api/keyed')).statusCode, 200);
    assert.deepEqual(steps, ['checks read']);
    await app.close();
  });

  it('may be absent only if the route says that it needs no API key, or is not documented', () => {
    const { app } = appWith();
    const add = (url: string, schema?: object) =>
      app.get(url, { ...(schema && { schema }) }, () => 1);
    add('/open', { security: [] });
    add('/page', { hide: true });
    assert.throws(
      () => add('/forgotten', { operationId: 'forgotten' }),
      /\/forgotten has no scope/,
    );
    assert.throws(() => add('/bare'), /\/bare has no scope/);
    assert.throws(() => add('/keyed', { security: [{ apiKey: [] }] }), /\/keyed has no scope/);
  });
});
