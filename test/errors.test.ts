/** The error table, the sample in its documentation and the OpenAPI document agree. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { SOURCE_NAMES } from '../src/entropy/index.ts';
import { ERRORS, type ErrorCode } from '../src/errors.ts';
import { buildTestApp, standInService } from './support/app.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];
const DOCUMENT = readFileSync(resolve(import.meta.dirname, '../docs/errors.md'), 'utf8');

describe('docs/errors.md', () => {
  it('shows a sample whose code, title and status match a row of the table', () => {
    const sample = /^```json\n([\s\S]*?)^```/m.exec(DOCUMENT)?.[1] ?? '';
    const problem = JSON.parse(sample);
    const { status, title } = ERRORS[problem.code as ErrorCode];
    assert.deepEqual([problem.status, problem.title], [status, title]);
    assert.equal(problem.type, `urn:phm:error:${problem.code}`);
    assert.equal(problem.help, `docs/errors#${problem.code}`);
  });
});

interface Operation {
  readonly operationId?: string;
  readonly security?: readonly unknown[];
  readonly responses: Readonly<
    Record<string, { description: string; content: Record<string, { schema: Schema }> }>
  >;
}

interface Schema {
  readonly $ref?: string;
  readonly enum?: readonly string[];
}

interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
  readonly security: readonly unknown[];
}

/** Errors before routing, which no operation can document. */
const OUTSIDE_ROUTES: readonly ErrorCode[] = ['not_found', 'method_not_allowed'];
const GENERATING = [
  '/api/v2/generate',
  '/api/v2/generate/sealed',
  '/api/v2/generate/batch',
  '/api/v2/generate/sealed/batch',
];
const KEYED = [
  ...GENERATING,
  '/api/v2/validate',
  '/api/v2/keys',
  '/api/v2/keys/{key_id}',
  '/api/v2/keys/{key_id}/revoke',
  '/api/v2/keys/{key_id}/receipt',
  '/api/v2/metrics',
  '/api/v2/metrics/series',
  '/api/v2/metrics/randomness',
];
/** Needs the key's commitment instead of an API key. */
const BY_COMMITMENT = '/api/v2/receipts';
const LOG = ['/log/checkpoint', '/log/policy'];
const HEALTH = ['/livez', '/readyz', '/health'];
const PROBLEM = 'application/problem+json';

describe('the OpenAPI document', () => {
  let app: FastifyInstance;
  let api: OpenApi;
  let operations: { readonly path: string; readonly operation: Operation }[];

  before(async () => {
    // The document comes from the routes' schemas, so no test here calls the service.
    const service = standInService('research');
    app = await buildTestApp({ service, entropySources: SOURCE_NAMES, rateLimits: false });
    const response = await app.inject('/api/v2/openapi.json');
    assert.equal(response.statusCode, 200);
    api = response.json();
    operations = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => ({ path, operation })),
    );
  });
  after(() => app.close());

  it('is OpenAPI 3.1 with only the endpoints, the log and the health checks', () => {
    assert.match(api.openapi, /^3\.1\.\d+$/);
    assert.ok(api.info.title && api.info.version);
    const methods = Object.entries(api.paths).map(([path, item]) => [path, Object.keys(item)]);
    assert.deepEqual(
      Object.fromEntries(methods),
      {
        ...Object.fromEntries(GENERATING.map((path) => [path, ['post']])),
        '/api/v2/validate': ['post'],
        '/api/v2/keys': ['get'],
        '/api/v2/keys/{key_id}': ['get'],
        '/api/v2/keys/{key_id}/revoke': ['post'],
        '/api/v2/keys/{key_id}/receipt': ['get'],
        [BY_COMMITMENT]: ['post'],
        '/api/v2/metrics': ['get'],
        '/api/v2/metrics/series': ['get'],
        '/api/v2/metrics/randomness': ['get'],
        ...Object.fromEntries([...LOG, ...HEALTH].map((path) => [path, ['get']])),
      },
      'the paths of the document differ from the list in test/errors.test.ts',
    );
  });

  it('requires the API key on every path except receipts by commitment, the log and the health checks', () => {
    assert.deepEqual(api.components.securitySchemes, {
      apiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'X-API-Key',
        description:
          'The operator of the server issues API keys with `phm api-key issue`. An API key can be restricted to scopes: `x-required-scope` of an operation names the one that it needs.',
      },
    });
    assert.deepEqual(api.security, [{ apiKey: [] }]);
    for (const { path, operation } of operations) {
      const expected = [BY_COMMITMENT, ...LOG, ...HEALTH].includes(path) ? [] : undefined;
      assert.deepEqual(operation.security, expected, path);
    }
  });

  it('names each operation uniquely and describes each of its responses', () => {
    const ids = operations.flatMap(({ operation }) => operation.operationId ?? []);
    assert.deepEqual(
      ids,
      [
        'generate',
        'generateSealed',
        'generateBatch',
        'generateSealedBatch',
        'validate',
        'listKeys',
        'getKey',
        'revokeKey',
        'receipt',
        'receiptByCommitment',
        'metrics',
        'metricsSeries',
        'randomness',
        'logCheckpoint',
        'logPolicy',
        'livez',
        'readyz',
        'health',
      ],
      'the operations of the document differ from the list in test/errors.test.ts',
    );
    for (const { path, operation } of operations) {
      assert.ok(operation.responses['200'], `${path} documents no success`);
      for (const [status, response] of Object.entries(operation.responses)) {
        const where = `${path} ${status}`;
        assert.match(status, /^[1-5]\d\d$/, where);
        assert.ok(response.description, where);
        const schemas = Object.values(response.content).map(({ schema }) => schema);
        assert.ok(schemas.length > 0 && schemas.every(Boolean), where);
      }
    }
  });

  it('gives the Problem schema exactly the codes of the table', () => {
    const problems = operations.flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap(({ content }) => content[PROBLEM]?.schema ?? []),
    );
    assert.ok(problems.length > 0);
    for (const { $ref } of problems) assert.equal($ref, '#/components/schemas/Problem');
    assert.deepEqual(api.components.schemas.ErrorCode?.enum, CODES);
  });

  it('documents only statuses and codes of the table, each code under its status', () => {
    for (const { path, status, codes } of documentedProblems()) {
      assert.ok(codes.length > 0, `${path} ${status} names no code`);
      for (const code of codes) {
        assert.equal(ERRORS[code as ErrorCode]?.status, status, `${path}: ${code}`);
      }
    }
  });

  it('documents every code of the table on a route, except those outside routes', () => {
    const documented = new Set(documentedProblems().flatMap(({ codes }) => codes));
    const missing = CODES.filter((code) => !documented.has(code));
    assert.deepEqual(
      missing,
      OUTSIDE_ROUTES,
      `add codes to the responses(…) of their routes in src/http/routes/: ${missing.join(', ')}`,
    );
  });

  it('documents API key, limit and ledger errors on every route that needs an API key', () => {
    for (const path of KEYED) {
      const codes = documentedProblems()
        .filter((one) => one.path === path)
        .flatMap((one) => one.codes);
      for (const code of [
        'missing_api_key',
        'invalid_api_key',
        'rate_limited',
        'ledger_unavailable',
        'foreign_ledger',
      ])
        assert.ok(codes.includes(code), `${path}: ${code}`);
      const generates = GENERATING.includes(path);
      assert.equal(
        codes.includes('quota_exceeded'),
        generates || path === '/api/v2/validate',
        path,
      );
      assert.equal(codes.includes('entropy_unavailable'), generates, path);
      assert.equal(codes.includes('idempotency_key_reused'), generates, path);
      const inPlaintext = generates && !path.includes('sealed');
      for (const code of ['sealed_only', 'key_already_made']) {
        assert.equal(codes.includes(code), inPlaintext, `${path}: ${code}`);
      }
      const isSealed = generates && path.includes('sealed');
      assert.equal(codes.includes('recipient_not_registered'), isSealed, path);
      assert.equal(codes.includes('batch_too_large'), path.endsWith('/batch'), path);
    }
  });

  /** Returns problem responses with the codes of their descriptions: "code: title; code: title". */
  function documentedProblems(): { path: string; status: number; codes: string[] }[] {
    return operations.flatMap(({ path, operation }) =>
      Object.entries(operation.responses)
        .filter(([, { content }]) => PROBLEM in content)
        .map(([status, { description }]) => ({
          path,
          status: Number(status),
          codes: [...description.matchAll(/(?:^|; )([a-z_]+): /g)].map(([, code]) => code ?? ''),
        })),
    );
  }
});
