import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FastifyInstance, fastify } from 'fastify';
import { SOURCE_NAMES } from '../../src/entropy/index.ts';
import { Validators } from '../../src/http/validators.ts';
import { buildTestApp, standInService } from '../support/servers/app.ts';

const sound = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };

async function appWith(schema: unknown, validators: Validators): Promise<FastifyInstance> {
  const app = fastify({ schemaController: { compilersFactory: validators.compilers } });
  app.post('/', { schema: { body: schema } }, () => ({}));
  await app.ready();
  return app;
}

describe('the schemas of the service', () => {
  it('all compile, so that no server ends after it was ready', async () => {
    for (const entropySources of [['os'], SOURCE_NAMES]) {
      const validators = new Validators();
      const app = await buildTestApp({
        service: standInService('research'),
        entropySources,
        validators,
      });
      await app.ready();
      await validators.prepare(0);
      await app.close();
    }
  });
});

describe('validators', () => {
  it('compiles a schema with the first request that needs it', async () => {
    const app = await appWith(sound, new Validators());
    const statusOf = async (payload: object) =>
      (await app.inject({ method: 'POST', url: '/', payload })).statusCode;
    assert.equal(await statusOf({ n: 'no' }), 400);
    assert.equal(await statusOf({ n: 1 }), 200);
    assert.equal(await statusOf({}), 400);
    await app.close();
  });

  it('compiles every schema without a request', async () => {
    const validators = new Validators();
    const app = await appWith({ type: 'no such type' }, validators);
    await assert.rejects(validators.prepare(0), /no such type|type must be/);
    await app.close();
  });
});
