/** The three endpoints and everything around them, on a real listening server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { describe, it } from 'node:test';
import { type Answer, DEMO_KEY, DEMO_PROFESSIONAL_KEY } from '../../support/servers/server.ts';
import { server } from '../../support/servers/shared-server.ts';
import { answersOf } from '../../support/texts/document.ts';

const KEY_HEADERS = { 'X-API-Key': DEMO_KEY, 'Content-Type': 'application/json' };
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;
const COMMON = [
  'success',
  'key_id',
  'key',
  'security_level',
  'security_strength_bits',
  'entropy_bits',
  'latency_ms',
  'timestamp',
  'source',
  'quantum_hardware',
  'entropy_job_id',
  'hash_proof',
];
const EVIDENCE = ['nist_validation', 'nist_score', 'nist_grade'];

function assertProblem(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.equal(answer.body.success, false);
  assert.equal(answer.body.status, status);
  assert.equal(answer.body.code, code);
  assert.equal(answer.body.type, `urn:phm:error:${code}`);
  assert.equal(answer.body.help, `docs/errors#${code}`);
  assert.match(answer.body.timestamp, TIMESTAMP);
  assert.equal(answer.body.request_id, answer.headers.get('x-request-id'));
  for (const member of ['title', 'detail', 'instance']) assert.ok(answer.body[member], member);
}

describe('generate', () => {
  it('answers a plain request with exactly the specified fields', async () => {
    for (const level of [128, 256, 384]) {
      const { status, headers, body } = await server.generate({ security_level: level });
      assert.equal(status, 200);
      assert.match(headers.get('content-type') ?? '', /^application\/json/);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.deepEqual(Object.keys(body).sort(), [...COMMON].sort());
      assert.equal(body.success, true);
      assert.equal(body.security_level, level);
      assert.match(body.key, /^[0-9a-f]+$/);
      assert.equal(body.key.length, level / 4);
      assert.match(body.key_id, /^phm_[0-9]+$/);
      assert.match(body.timestamp, TIMESTAMP);
      assert.ok(body.latency_ms > 0);
      assert.equal(body.security_strength_bits, Math.min(level, 256));
      assert.deepEqual(
        [body.source, body.quantum_hardware, body.entropy_job_id],
        ['os', false, null],
      );
      assert.match(body.hash_proof, /^proof_[1-9][0-9]{77,81}$/);
      const credited = Math.min(level, 256);
      assert.ok(body.entropy_bits > 0.98 * credited && body.entropy_bits <= credited);
    }
  });

  it('runs the 15 tests on request and returns the evidence in both published forms', async () => {
    const { status, body } = await server.generate({
      security_level: 256,
      enable_nist_validation: true,
    });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), [...COMMON, ...EVIDENCE].sort());
    const validation = body.nist_validation;
    assert.deepEqual(Object.keys(validation).sort(), [
      'certification_status',
      'compliance_level',
      'tests_passed',
      'total_tests',
    ]);
    assert.equal(validation.certification_status, 'PASS');
    assert.ok([13, 15].includes(validation.total_tests));
    assert.ok(validation.tests_passed > 8 && validation.tests_passed <= validation.total_tests);
    const all = validation.tests_passed === validation.total_tests;
    const share = validation.tests_passed / validation.total_tests;
    assert.equal(body.nist_score, Math.round(100 * share));
    assert.match(body.nist_grade, /^[ABCDF]$/);
    assert.equal(validation.compliance_level, all ? 'CERTIFICATION_READY' : 'REVIEW');
  });

  it('answers the same fields whatever the source', async () => {
    const plain = await server.generate({
      security_level: 128,
      entropy_source: 'quantum-simulator',
    });
    assert.deepEqual(Object.keys(plain.body).sort(), [...COMMON].sort());
    const { status, body } = await server.generate({
      security_level: 384,
      enable_nist_validation: true,
      entropy_source: 'quantum-simulator',
      modulation_type: 'amplitude',
    });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), [...COMMON, ...EVIDENCE].sort());
    assert.equal(body.quantum_hardware, false);
    assert.equal(body.entropy_job_id, null);
    assert.equal(body.source, 'quantum-simulator');
    // The simulator is credited with 0 bits, so 384 bits show no more than the credit of `os`.
    assert.ok(body.entropy_bits <= 256);
  });

  it('accepts all modulation types and a redundant hash_proof request, and warns of unknown fields', async () => {
    for (const modulation_type of ['phase', 'frequency', 'amplitude', 'none']) {
      const { status, body } = await server.generate({
        security_level: 256,
        modulation_type,
        metadata: { any: 'thing' },
        qasm: 'OPENQASM 3;',
        include: ['hash_proof'],
      });
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body).sort(), [...COMMON, 'warnings'].sort());
    }
  });

  it('coerces nothing and names every wrong field', async () => {
    const cases: [unknown, string[]][] = [
      [{}, ['#/security_level']],
      [{ security_level: '256' }, ['#/security_level']],
      [{ security_level: null }, ['#/security_level']],
      [{ security_level: 192 }, ['#/security_level']],
      [{ security_level: 256.5 }, ['#/security_level']],
      [{ security_level: [256] }, ['#/security_level']],
      [{ security_level: 256, enable_nist_validation: 'true' }, ['#/enable_nist_validation']],
      [{ security_level: 256, enable_nist_validation: 1 }, ['#/enable_nist_validation']],
      [{ security_level: 256, modulation_type: 'PHASE' }, ['#/modulation_type']],
      [{ security_level: 256, entropy_source: 'ibm-quantum' }, ['#/entropy_source']],
      [{ security_level: 256, include: ['key'] }, ['#/include/0']],
      [{ security_level: 256, include: [null] }, ['#/include/0']],
      [{ security_level: 256, include: 'hash_proof' }, ['#/include']],
      [{ security_level: 1, modulation_type: 2 }, ['#/security_level', '#/modulation_type']],
      [[], ['#']],
      ['"text"', ['#']],
      ['null', ['#']],
    ];
    for (const [body, pointers] of cases) {
      const answer = await server.generate(body);
      assertProblem(answer, 400, 'invalid_request');
      assert.deepEqual(
        answer.body.errors.map((one: { pointer: string }) => one.pointer),
        pointers,
        JSON.stringify(body),
      );
    }
    const { body } = await server.generate({ security_level: 256, modulation_type: 'fm' });
    assert.equal(
      body.errors[0].message,
      'must be one of phase, frequency, amplitude, none; got the string "fm"',
    );
  });

  it('rejects a body that is not JSON, without quoting it', async () => {
    for (const text of [
      '{"security_level": 256',
      'sesame-secret',
      '',
      '{"key": "sesame", "key": 2}',
    ]) {
      const answer = await server.generate(text);
      assertProblem(answer, 400, 'malformed_json');
      assert.ok(!JSON.stringify(answer.body).includes('sesame'));
    }
  });
});

describe('validate', () => {
  it('confirms a key it generated, by ledger and by proof', async () => {
    for (const level of [128, 256, 384]) {
      const made = await server.generate({ security_level: level, include: ['hash_proof'] });
      const { key, hash_proof } = made.body;
      for (const body of [{ key }, { key, hash_proof }]) {
        const { status, body: verdict } = await server.validate(body, DEMO_PROFESSIONAL_KEY);
        assert.equal(status, 200);
        assert.deepEqual(Object.keys(verdict).sort(), [
          'success',
          'timestamp',
          'valid',
          'validation_details',
        ]);
        assert.equal(verdict.valid, true);
        assert.deepEqual(verdict.validation_details, {
          key_format: 'valid',
          entropy_check: 'passed',
          proof_verification: 'passed',
          key_status: 'active',
        });
      }
    }
  });

  it('confirms a key with evidence too', async () => {
    const made = await server.generate({ security_level: 256, enable_nist_validation: true });
    const { body } = await server.validate({ key: made.body.key });
    assert.equal(body.valid, true);
  });

  it('does not confirm a foreign key, a wrong proof or a proof of another key', async () => {
    const foreign = await server.validate({ key: 'c0ffee5eed5eedbadc0dea11ce0b0bca' });
    assert.equal(foreign.status, 200);
    assert.equal(foreign.body.valid, false);
    assert.equal(foreign.body.validation_details.entropy_check, 'passed');
    assert.equal(foreign.body.validation_details.proof_verification, 'failed');
    const [one, two] = await Promise.all(
      [1, 2].map(() => server.generate({ security_level: 256, include: ['hash_proof'] })),
    );
    const key = one?.body.key;
    for (const hash_proof of [two?.body.hash_proof, 'proof_1', ' ', `${one?.body.hash_proof}0`]) {
      const { status, body } = await server.validate({ key, hash_proof });
      assert.equal(status, 200);
      assert.equal(body.valid, false);
      assert.equal(body.validation_details.proof_verification, 'failed');
    }
  });

  it('answers a malformed key with a verdict and a missing key with 400', async () => {
    const good = (await server.generate({ security_level: 128 })).body.key;
    for (const key of [
      '',
      'xyz',
      good.toUpperCase().replace(/\d/g, 'A'),
      `${good}0`,
      `${good}\n`,
    ]) {
      const { status, body } = await server.validate({ key });
      assert.equal(status, 200);
      assert.equal(body.valid, false);
      const { reason, ...checks } = body.validation_details;
      assert.deepEqual(checks, {
        key_format: 'invalid',
        entropy_check: 'skipped',
        proof_verification: 'skipped',
      });
      assert.match(reason, /\.$/);
      assert.ok(!reason.includes(good.slice(0, 8)), 'the reason repeats the key');
    }
    assertProblem(await server.validate({}), 400, 'invalid_request');
    assertProblem(await server.validate({ key: 5 }), 400, 'invalid_request');
    assertProblem(await server.validate({ key: null }), 400, 'invalid_request');
    assertProblem(await server.validate({ key: good, hash_proof: 7 }), 400, 'invalid_request');
  });

  it('fails the entropy check of an obviously weak key', async () => {
    const { body } = await server.validate({ key: '0'.repeat(64) });
    assert.equal(body.validation_details.key_format, 'valid');
    assert.equal(body.validation_details.entropy_check, 'failed');
  });
});

describe('metrics', () => {
  it('counts only the keys and requests of the caller’s account', async () => {
    const before = (await server.metrics('', DEMO_PROFESSIONAL_KEY)).body.metrics;
    await server.generate({ security_level: 128 }, DEMO_PROFESSIONAL_KEY);
    await server.generate(
      { security_level: 128, enable_nist_validation: true },
      DEMO_PROFESSIONAL_KEY,
    );
    await server.validate({ key: 'x' }, DEMO_PROFESSIONAL_KEY);
    await server.generate({ security_level: 1 }, DEMO_PROFESSIONAL_KEY);
    const { status, body } = await server.metrics('?hours=1', DEMO_PROFESSIONAL_KEY);
    assert.equal(status, 200);
    const { performance, usage } = body.metrics;
    assert.equal(performance.total_keys_generated - before.performance.total_keys_generated, 2);
    assert.equal(usage.total_usage - before.usage.total_usage, 3);
    assert.equal(usage.api_key_count, 1);
    assert.ok(performance.average_latency_ms > 0);
    assert.equal(performance.nist_compliance_rate, 1);
    assert.equal(performance.error_rate, 0);
  });

  it('accepts hours only as one decimal integer from 1 to 8760', async () => {
    for (const query of ['', '?hours=1', '?hours=24.0', '?hours=8760.000', '?other=1']) {
      assert.equal((await server.metrics(query)).status, 200, query);
    }
    const wrong = [
      '?hours=',
      '?hours=0',
      '?hours=8761',
      '?hours=-1',
      '?hours=1.5',
      '?hours=1.',
      '?hours=.0',
      '?hours=1e3',
      '?hours=+1',
      '?hours=%201',
      '?hours=0x10',
      '?hours=01',
      '?hours=1&hours=2',
      '?hours=99999999999999999999',
      '?hours=٣',
    ];
    for (const query of wrong) {
      const answer = await server.metrics(query);
      assertProblem(answer, 400, 'invalid_request');
      assert.equal(answer.body.errors[0].pointer, '?hours');
    }
  });
});

describe('authentication', () => {
  it('distinguishes a missing API key from an invalid one', async () => {
    const none = await server.request('/api/v2/metrics');
    assertProblem(none, 401, 'missing_api_key');
    assert.equal(none.headers.get('www-authenticate'), 'ApiKey realm="phm", header="X-API-Key"');
    assertProblem(await server.metrics('', ''), 401, 'missing_api_key');
    for (const key of ['wrong', `${DEMO_KEY}x`, DEMO_KEY.slice(1), 'a'.repeat(5_000)]) {
      assertProblem(await server.metrics('', key), 401, 'invalid_api_key');
    }
  });

  it('precedes any check of the body', async () => {
    assertProblem(await server.generate('not json', 'wrong'), 401, 'invalid_api_key');
  });

  it('rejects demo keys in requests that passed a proxy', async () => {
    for (const header of ['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Proto']) {
      const headers = { 'X-API-Key': DEMO_KEY, [header]: 'for=192.0.2.1' };
      assertProblem(await server.request('/api/v2/metrics', { headers }), 401, 'invalid_api_key');
    }
  });

  it('rejects demo keys in requests for another host (DNS rebinding)', async () => {
    const { port } = new URL(server.address);
    const ask = async (host: string) => {
      const headers = { 'X-API-Key': DEMO_KEY, Host: host };
      const request = get({ host: '127.0.0.1', port, path: '/api/v2/metrics', headers });
      const [response] = await once(request, 'response');
      response.resume();
      return response.statusCode;
    };
    assert.equal(await ask('evil.example:8080'), 401);
    assert.equal(await ask('127.0.0.1.evil.example'), 401);
    for (const host of ['localhost', 'localhost:8080', '127.0.0.1', '[::1]:8080']) {
      assert.equal(await ask(host), 200, host);
    }
  });
});

describe('HTTP', () => {
  it('answers 404, 405 with Allow, 413 and 415 as problems', async () => {
    assertProblem(await server.request('/api/v1/generate'), 404, 'not_found');
    const wrong = await server.request('/api/v2/generate', { headers: KEY_HEADERS });
    assertProblem(wrong, 405, 'method_not_allowed');
    assert.equal(wrong.headers.get('allow'), 'POST');
    const put = await server.request('/api/v2/metrics?hours=1', { method: 'PUT' });
    assertProblem(put, 405, 'method_not_allowed');
    assert.equal(put.headers.get('allow'), 'GET, HEAD');
    const large = { security_level: 256, padding: 'x'.repeat(33_000) };
    assertProblem(await server.generate(large), 413, 'payload_too_large');
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded']) {
      const answer = await server.request('/api/v2/generate', {
        method: 'POST',
        headers: { ...KEY_HEADERS, 'Content-Type': type },
        body: '{"security_level": 256}',
      });
      assertProblem(answer, 415, 'unsupported_media_type');
    }
    assertProblem(await server.request('/%zz'), 400, 'malformed_request');
  });

  it('returns a valid request ID and replaces an invalid one', async () => {
    const ask = (id: string) => server.request('/livez', { headers: { 'X-Request-Id': id } });
    assert.equal((await ask('trace-1.A_b')).headers.get('x-request-id'), 'trace-1.A_b');
    for (const bad of ['x'.repeat(129), 'a b', '"quoted"', '<script>']) {
      const given = (await ask(bad)).headers.get('x-request-id') ?? '';
      assert.match(given, /^[0-9a-f-]{36}$/);
    }
  });

  it('requires no API key for health, OpenAPI and docs', async () => {
    for (const path of ['/livez', '/readyz', '/health']) {
      const { status, body, headers } = await server.request(path);
      assert.equal(status, 200, path);
      assert.equal(body.success, true);
      assert.equal(body.status, 'ok');
      assert.match(body.timestamp, TIMESTAMP);
      assert.equal(headers.get('cache-control'), 'no-store');
    }
    assert.equal((await server.request('/api/v2/openapi.json')).body.openapi, '3.1.0');
    const page = await fetch(`${server.address}/docs/`);
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  });

  it('states the quota in the headers of every answer to a valid API key', async () => {
    const first = (await server.generate({ security_level: 128 })).headers;
    assert.match(first.get('ratelimit-policy') ?? '', /"quota";q=1000;w=\d+/);
    const remaining = (headers: Headers) =>
      Number(/"quota";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
    const second = (await server.generate({ security_level: 128 })).headers;
    assert.equal(remaining(second), remaining(first) - 1);
  });
});

describe('the OpenAPI document', () => {
  it('describes the answers of the server, for every source, and its errors', async () => {
    const assertAnswer = answersOf((await server.request('/api/v2/openapi.json')).body);
    const check = (operationId: string, { status, body }: Answer) =>
      assertAnswer(operationId, status, body);
    for (const enable_nist_validation of [false, true]) {
      for (const entropy_source of ['os', 'quantum-simulator']) {
        const body = { security_level: 256, enable_nist_validation, entropy_source };
        check('generate', await server.generate(body));
      }
    }
    check('generate', await server.generate({ security_level: 256, include: ['hash_proof'] }));
    check('generate', await server.generate({}));
    check('generate', await server.generate({ security_level: 256 }, 'wrong'));
    check('validate', await server.validate({ key: 'x' }));
    check('metrics', await server.metrics());
    check('metrics', await server.metrics('?hours=x'));
    check('readyz', await server.request('/readyz'));
  });
});
