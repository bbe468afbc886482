import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fastify, type RouteOptions } from 'fastify';
import { serveOpenApi } from '../../src/http/openapi/serve.ts';

describe('the route of the OpenAPI document', () => {
  it('builds the document again after a failure', async () => {
    const app = fastify();
    const routes: RouteOptions[] = [{ method: 'GET', url: '/undescribed', handler: () => {} }];
    serveOpenApi(app, routes, '');
    const status = async () => (await app.inject('/api/v2/openapi.json')).statusCode;
    assert.equal(await status(), 500);
    routes.pop();
    assert.equal(await status(), 200);
    await app.close();
  });
});
