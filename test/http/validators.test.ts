import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
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

/** As Fastify calls it: once for each context of routes, and then with each route. */
type BuildValidator = (...settings: unknown[]) => (route: { readonly schema: object }) => unknown;

/** Validators that note each schema which a route has. */
function notingValidators(found: object[]): Validators {
  const validators = new Validators();
  const { buildValidator } = validators.compilers as unknown as { buildValidator: BuildValidator };
  const noting: BuildValidator = (...settings) => {
    const compile = buildValidator(...settings);
    return (route) => {
      found.push(route.schema);
      return compile(route);
    };
  };
  Object.assign(validators.compilers, { buildValidator: noting });
  return validators;
}

describe('the schemas of the service', () => {
  it('are schemas, which no server checks when it starts', async () => {
    const schemas: object[] = [];
    const validators = notingValidators(schemas);
    const app = await buildTestApp({ service: standInService('research'), validators });
    await app.ready();
    await app.close();
    assert.ok(schemas.length > 10, `${schemas.length} schemas`);
    const ajv = new Ajv();
    assert.equal(ajv.validateSchema({ type: 'object', required: 'n' }), false);
    for (const schema of schemas) assert.ok(ajv.validateSchema(schema), ajv.errorsText());
  });

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
