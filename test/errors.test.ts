/** The error table, the sample in its documentation and the OpenAPI document agree. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { SOURCE_NAMES } from '../src/entropy/index.ts';
import { ERRORS, type ErrorCode } from '../src/errors.ts';
import { buildTestApp, standInService } from './support/servers/app.ts';

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

  it('is OpenAPI 3.1, and each path has one method', () => {
    assert.match(api.openapi, /^3\.1\.\d+$/);
    assert.ok(api.info.title && api.info.version);
    for (const [path, item] of Object.entries(api.paths)) {
      assert.match(Object.keys(item).join(), /^(?:get|post)$/, path);
    }
  });

  it('requires the API key on every path that does not say otherwise', () => {
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
    // test/http/access-table.ts lists the operations, and which of them need none.
    for (const { path, operation } of operations) {
      assert.ok(operation.security === undefined || operation.security.length === 0, path);
    }
  });

  it('names each operation uniquely and describes each of its responses', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    assert.ok(ids.every(Boolean));
    assert.equal(new Set(ids).size, ids.length);
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
    const keyed = operations.filter(({ operation }) => operation.security === undefined);
    assert.ok(keyed.length >= 12);
    for (const { path } of keyed) {
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
      const generates = path.startsWith('/api/v2/generate');
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
