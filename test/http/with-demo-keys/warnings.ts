/** Unknown fields cause a warning in the response, or an error with strict handling. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, DEMO_KEY } from '../../support/servers/server.ts';
import { server } from '../../support/servers/shared-server.ts';

const GENERATE = '/api/v2/generate';
const VALIDATE = '/api/v2/validate';
const KEY = 'c0ffee5eed5eedbadc0dea11ce0b0bca';

interface Call {
  readonly path: string;
  readonly body?: unknown;
}

function send({ path, body }: Call, headers: Record<string, string> = {}): Promise<Answer> {
  const all = { 'X-API-Key': DEMO_KEY, 'Content-Type': 'application/json', ...headers };
  if (body === undefined) return server.request(path, { headers: all });
  return server.request(path, { method: 'POST', headers: all, body: JSON.stringify(body) });
}

const strict = (call: Call) => send(call, { Prefer: 'handling=strict' });

/** Every endpoint with an unknown field, and the pointer to that field. */
const CALLS: (Call & { pointer: string; guess?: string })[] = [
  { path: GENERATE, body: { security_level: 128, metadata: { a: [1] } }, pointer: '#/metadata' },
  {
    path: GENERATE,
    body: { security_level: 128, enable_nist: true },
    pointer: '#/enable_nist',
    guess: 'enable_nist_validation',
  },
  { path: `${GENERATE}?verbose=1`, body: { security_level: 128 }, pointer: '?verbose' },
  {
    path: VALIDATE,
    body: { key: KEY, hashProof: 'x' },
    pointer: '#/hashProof',
    guess: 'hash_proof',
  },
  { path: '/api/v2/metrics?hour=2', pointer: '?hour', guess: 'hours' },
  { path: '/api/v2/metrics/series?hours=2&steps=5', pointer: '?steps', guess: 'step' },
  { path: '/api/v2/metrics/randomness?includes=p_values', pointer: '?includes', guess: 'include' },
];

describe('an unknown field', () => {
  it('causes a warning on every route, and the request succeeds', async () => {
    for (const { pointer, guess, ...call } of CALLS) {
      const { status, body, headers } = await send(call);
      assert.equal(status, 200, call.path);
      assert.equal(headers.get('preference-applied'), null);
      assert.equal(body.warnings.length, 1);
      const [{ code, detail, ...rest }] = body.warnings;
      assert.equal(code, 'unknown_field');
      assert.deepEqual(rest, { pointer });
      assert.ok(detail.includes(`"${pointer.replace(/^[#?]\/?/, '')}"`), detail);
      assert.match(detail, guess ? new RegExp(`; did you mean "${guess}"\\?$`) : / was ignored\.$/);
    }
  });

  it('leads to the path of batches if it is the number of keys', async () => {
    const body = { security_level: 256, count: 10 };
    const answer = await send({ path: '/api/v2/generate', body });
    assert.deepEqual(
      answer.body.warnings.map(({ detail }: { detail: string }) => detail),
      ['"count" is not a known field and was ignored; it is a field of /api/v2/generate/batch.'],
    );
  });

  it('is an error with handling=strict, and the request has no effect', async () => {
    const before = (await server.metrics()).body.metrics.usage.total_usage;
    for (const { pointer, guess, ...call } of CALLS) {
      const { status, body, headers } = await strict(call);
      assert.equal(status, 400, call.path);
      assert.equal(body.code, 'invalid_request');
      assert.equal(headers.get('preference-applied'), 'handling=strict');
      assert.equal(body.errors.length, 1);
      assert.equal(body.errors[0].pointer, pointer);
      if (guess) assert.match(body.errors[0].message, new RegExp(`did you mean "${guess}"\\?$`));
    }
    assert.equal((await server.metrics()).body.metrics.usage.total_usage, before);
  });

  it('is the only cause of "warnings" in an answer', async () => {
    for (const call of [
      { path: GENERATE, body: { security_level: 128 } },
      { path: VALIDATE, body: { key: KEY } },
      { path: '/api/v2/metrics?hours=2' },
      { path: '/api/v2/metrics/series' },
      { path: '/api/v2/metrics/randomness' },
    ]) {
      for (const { status, body } of [await send(call), await strict(call)]) {
        assert.equal(status, 200);
        assert.ok(!('warnings' in body), call.path);
      }
    }
  });

  it('is listed with the other errors of a strict request', async () => {
    const { body } = await strict({ path: GENERATE, body: { securityLevel: 256 } });
    const pointers = body.errors.map((one: { pointer: string }) => one.pointer);
    assert.deepEqual(pointers, ['#/security_level', '#/securityLevel']);
    const query = await strict({ path: '/api/v2/metrics?hours=0&x=1' });
    assert.deepEqual(
      query.body.errors.map((one: { pointer: string }) => one.pointer),
      ['?hours', '?x'],
    );
  });

  it('may be a field of the body that was sent in the query', async () => {
    const call = { path: `${GENERATE}?security_level=256`, body: { security_level: 128 } };
    const { body } = await send(call);
    assert.match(body.warnings[0].detail, /it is a field of the body\.$/);
  });

  it('may have any name, including "__proto__" and "constructor"', async () => {
    const body = JSON.parse(
      '{"security_level":128,"__proto__":{"a":1},"constructor":{"prototype":{}}}',
    );
    const answer = await send({ path: `${GENERATE}?__proto__=1&toString=2`, body });
    assert.equal(answer.status, 200);
    const pointers = answer.body.warnings.map((one: { pointer: string }) => one.pointer);
    assert.deepEqual(pointers, ['#/__proto__', '#/constructor', '?__proto__', '?toString']);
  });

  it('is named up to eight times per answer; the rest are counted', async () => {
    const names = Array.from({ length: 1_500 }, (_, i) => [`f${i}`, 1]);
    const body = { security_level: 128, ...Object.fromEntries(names) };
    const { warnings } = (await send({ path: GENERATE, body })).body;
    assert.equal(warnings.length, 9);
    assert.equal(warnings[8].pointer, '#');
    assert.match(warnings[8].detail, /^1492 more fields /);
    const { errors } = (await strict({ path: GENERATE, body })).body;
    assert.equal(errors.length, 16);
    assert.equal(errors[15].message, 'has 1485 more errors');
  });

  it('is cut if it could be a secret, and is never logged', async () => {
    const start = server.log.length;
    const name = `5ec2e7${'0123456789abcdef'.repeat(4)}`;
    const call = { path: `${GENERATE}?${name}=1`, body: { security_level: 128, [name]: 1 } };
    for (const { body } of [await send(call), await strict(call)]) {
      assert.ok(JSON.stringify(body).includes('5ec2e7'));
      assert.ok(!JSON.stringify(body).includes(name.slice(0, 25)));
    }
    // Once the log has a later request, it has all of these.
    await server.request('/livez', { headers: { 'X-Request-Id': 'after-cut-names' } });
    await server.logged('after-cut-names');
    const log = server.log.slice(start);
    assert.ok(log.includes(GENERATE));
    assert.ok(!log.includes(name.slice(0, 16)));
  });
});

describe('Preference-Applied', () => {
  it('is on every answer of an endpoint with fields, errors included, if the request has Prefer', async () => {
    const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
      server.request(path, {
        method,
        headers: { Prefer: 'return=minimal, Handling="strict"', ...headers },
      });
    for (const [status, answer] of [
      [200, await ask('/api/v2/metrics', { 'X-API-Key': DEMO_KEY })],
      [400, await ask('/%zz', {})],
      [401, await ask('/api/v2/metrics', {})],
      [404, await ask('/nowhere', {})],
      [405, await ask('/api/v2/metrics', {}, 'DELETE')],
      [415, await ask(GENERATE, { 'X-API-Key': DEMO_KEY, 'Content-Type': 'text/plain' }, 'POST')],
    ] as const) {
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get('preference-applied'), 'handling=strict');
    }
    const lenient = await send({ path: '/api/v2/metrics?x=1' }, { Prefer: 'handling=lenient' });
    assert.equal(lenient.body.warnings.length, 1);
    assert.equal(lenient.headers.get('preference-applied'), 'handling=lenient');
  });

  it('is omitted where unknown parameters are ignored regardless', async () => {
    for (const path of ['/livez?x=1', '/health?x=1', '/api/v2/openapi.json?x=1', '/?x=1']) {
      const { status, headers } = await server.request(path, {
        headers: { Prefer: 'handling=strict' },
      });
      assert.equal(status, 200, path);
      assert.equal(headers.get('preference-applied'), null, path);
    }
  });
});
