/** The OpenAPI document has the form that client generators need. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { SOURCE_NAMES } from '../../../src/entropy/index.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';
import { type OpenApiDocument, operationsOf } from '../../support/texts/document.ts';

const NAMES = [
  'Checkpoint',
  'EntropySource',
  'ErrorCode',
  'FieldError',
  'GenerateRequest',
  'GeneratedKey',
  'Health',
  'KeyStatement',
  'LogPolicy',
  'Metrics',
  'MetricsSeries',
  'ModulationType',
  'NistReport',
  'NistValidation',
  'Problem',
  'Randomness',
  'Receipt',
  'ReceiptResult',
  'SecurityLevel',
  'TestName',
  'ValidateRequest',
  'ValidationResult',
  'Warning',
];

let app: FastifyInstance;
let document: OpenApiDocument;

before(async () => {
  app = await buildTestApp({
    service: standInService('research'),
    entropySources: SOURCE_NAMES,
    demoKeys: 'admit',
    basePath: '/phm',
  });
  document = (await app.inject('/phm/api/v2/openapi.json')).json();
});
after(() => app.close());

/** Yields every object of the document with its pointer, except examples, which are data and not schemas. */
function* objects(node: unknown, pointer = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield [pointer, node as Record<string, unknown>];
  for (const [key, value] of Object.entries(node)) {
    if (!['example', 'examples'].includes(key)) yield* objects(value, `${pointer}/${key}`);
  }
}

const contentsOf = (part: OpenApiDocument) => Object.values<OpenApiDocument>(part?.content ?? {});

describe('the OpenAPI document', () => {
  it('names every body and every object within a body', () => {
    for (const { operationId, requestBody, responses } of operationsOf(document)) {
      for (const { schema } of [requestBody, ...Object.values(responses)].flatMap(contentsOf)) {
        assert.match(schema.$ref ?? '', /^#\/components\/schemas\/\w+$/, operationId);
      }
    }
    const { schemas } = document.components;
    for (const name of NAMES) assert.ok(schemas[name], name);
    for (const [name, schema] of Object.entries<OpenApiDocument>(schemas)) {
      assert.equal(schema.title, name);
      for (const [pointer, { type, properties }] of objects(schema.properties)) {
        assert.ok(type !== 'object' || !properties, `${name} ${pointer} has no name`);
      }
    }
  });

  it('resolves all its references and uses all its components', () => {
    const used = new Set<string>();
    for (const [pointer, { $ref }] of objects(document)) {
      if (typeof $ref !== 'string') continue;
      const [, , kind = '', name = ''] = $ref.split('/');
      assert.ok(document.components[kind]?.[name], `${pointer}: ${$ref}`);
      used.add($ref);
    }
    for (const kind of ['schemas', 'headers', 'parameters']) {
      for (const name of Object.keys(document.components[kind])) {
        assert.ok(used.has(`#/components/${kind}/${name}`), `${kind}/${name} is not used`);
      }
    }
  });

  it('has no numeric enum, no example beside examples, and no closed schema', () => {
    for (const [pointer, node] of objects(document)) {
      if (Array.isArray(node.enum)) {
        assert.ok(
          node.enum.every((value) => typeof value === 'string' || value === null),
          pointer,
        );
      }
      assert.ok(!('example' in node && 'examples' in node), pointer);
      assert.notEqual(node.additionalProperties, false, pointer);
    }
  });

  it('leaves optional fields out of `required`, even those with a default', () => {
    const { required, properties } = document.components.schemas.GenerateRequest;
    assert.deepEqual(required, ['security_level']);
    assert.match(properties.modulation_type.description, /; default: phase$/);
    for (const [name, field] of Object.entries<OpenApiDocument>(properties)) {
      assert.ok(!('default' in field), name);
      if (name !== 'security_level') assert.deepEqual(field.anyOf.at(-1), { type: 'null' }, name);
    }
  });

  it('gives the width of every number', () => {
    for (const [pointer, { type, format, maximum, oneOf }] of objects(
      document.components.schemas,
    )) {
      if (type === 'number') assert.equal(format, 'double', pointer);
      if (type !== 'integer' || oneOf) continue;
      assert.ok(format === 'int64' || Number(maximum) < 2 ** 31, pointer);
    }
  });

  it('lists the levels as constants, as the server lists them in its error', async () => {
    const { SecurityLevel } = document.components.schemas;
    assert.deepEqual(
      SecurityLevel.oneOf.map((one: { const: number }) => one.const),
      [128, 256, 384],
    );
    const answer = await app.inject({
      method: 'POST',
      url: '/phm/api/v2/generate',
      headers: { 'x-api-key': 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG' },
      payload: { security_level: 512 },
    });
    assert.equal(answer.statusCode, 400);
    assert.match(JSON.stringify(answer.json().errors), /128, 256, 384/);
  });

  it('lists the headers of each answer', () => {
    const names = (operation: OpenApiDocument, status: number) =>
      Object.keys(operation.responses[status].headers).sort();
    const [generate] = operationsOf(document);
    assert.deepEqual(names(generate, 200), [
      'Preference-Applied',
      'RateLimit',
      'RateLimit-Policy',
      'X-Request-Id',
    ]);
    assert.deepEqual(names(generate, 401), [
      'Preference-Applied',
      'WWW-Authenticate',
      'X-Request-Id',
    ]);
    for (const operation of operationsOf(document)) {
      for (const status of Object.keys(operation.responses)) {
        const has = names(operation, Number(status));
        assert.ok(has.includes('X-Request-Id'), `${operation.operationId} ${status}`);
        assert.equal(has.includes('Retry-After'), ['409', '429', '503'].includes(status));
      }
    }
  });

  it('links a generated key to its validation', () => {
    const operations = operationsOf(document);
    const { links } = operations.find((one) => one.operationId === 'generate').responses[200];
    assert.ok(operations.some(({ operationId }) => operationId === links.validate.operationId));
    assert.match(links.validate.description, /`key` and `hash_proof` of this response/);
  });

  it('has the base path in its server, and paths relative to it', () => {
    assert.deepEqual(document.servers, [{ url: '/phm' }]);
    for (const path of Object.keys(document.paths)) assert.ok(!path.startsWith('/phm'), path);
  });
});
