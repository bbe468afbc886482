/** Receipts over HTTP: with generate, and by their own address. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { newApiKey } from '../../../src/accounts/index.ts';
import { AppError } from '../../../src/errors.ts';
import { RECEIPT } from '../../../src/http/openapi/receipt-example.ts';
import { absentLog, type LogApi, type ReceiptAnswer } from '../../../src/service/index.ts';
import { buildTestApp, standInService } from '../../support/app.ts';
import { type AssertAnswer, answersOf } from '../../support/document.ts';

const KEY_ID = 'phm_2170429376983703449351416931714616409';
const PAGE = 'https://app.example';
const apiKey = newApiKey('live');

/** The answer of the log, or the error that it rejects with. */
let answer: ReceiptAnswer | Error = { kind: 'receipt', receipt: RECEIPT };
const asked: unknown[][] = [];

const LOG: LogApi = {
  ...absentLog('starting'),
  receipt: async (...all) => {
    asked.push(all);
    if (answer instanceof Error) throw answer;
    return answer;
  },
};

let app: FastifyInstance;
let assertAnswer: AssertAnswer;
before(async () => {
  const service = standInService('research', { log: LOG });
  app = await buildTestApp({ service, rateLimits: false, corsOrigins: [PAGE] });
  assertAnswer = answersOf((await app.inject('/api/v2/openapi.json')).json());
});
after(() => app.close());

const read = (keyId: string, query = '', headers: Record<string, string> = {}) =>
  app.inject({
    url: `/api/v2/keys/${keyId}/receipt${query}`,
    headers: { 'x-api-key': apiKey, ...headers },
  });

async function readWith(given: ReceiptAnswer | Error, keyId = KEY_ID) {
  answer = given;
  const { statusCode, headers, json } = await read(keyId);
  return { status: statusCode, headers, body: json() };
}

describe('GET /api/v2/keys/{key_id}/receipt', () => {
  it('returns the receipt for a key of the account, without waiting', async () => {
    const { status, body, headers } = await readWith({ kind: 'receipt', receipt: RECEIPT });
    assert.equal(status, 200);
    assert.deepEqual(body.receipt, RECEIPT);
    assertAnswer('receipt', 200, body);
    assert.equal(headers['cache-control'], 'no-store');
    assert.deepEqual(asked.at(-1), [KEY_ID, 'acct', 0]);
  });

  it('needs an API key, before anything else', async () => {
    const before = asked.length;
    const refused = await app.inject({ url: `/api/v2/keys/${KEY_ID}/receipt` });
    assert.equal(refused.statusCode, 401);
    assert.equal(refused.json().code, 'missing_api_key');
    assert.equal((await read('nope', '', { 'x-api-key': 'x' })).json().code, 'invalid_api_key');
    assert.equal(asked.length, before);
  });

  it('takes a place of the rate limit', async () => {
    const limited = await buildTestApp({ service: standInService('research', { log: LOG }) });
    const url = `/api/v2/keys/${KEY_ID}/receipt`;
    const codes = await Promise.all(
      Array.from({ length: 25 }, async () => {
        const one = await limited.inject({ url, headers: { 'x-api-key': apiKey } });
        return one.statusCode;
      }),
    );
    assert.ok(codes.includes(200));
    assert.ok(codes.includes(429));
    await limited.close();
  });

  it('answers alike for an unknown key and a key of another account', async () => {
    const { status, body } = await readWith({ kind: 'unknown_key' });
    assert.deepEqual([status, body.code], [404, 'receipt_not_found']);
    assert.equal(
      body.detail,
      'Check the key_id. An API key reads only receipts for keys that its own account generated.',
    );
  });

  it('says why it has none: each reason has its code, its sentence and its wait', async () => {
    const cases: [ReceiptAnswer['kind'], number, string, string | undefined, RegExp][] = [
      ['no_receipt', 404, 'receipt_not_found', undefined, /kept no transparency log, so it has no/],
      ['pending', 503, 'receipt_pending', '1', /durable, but .* Try again in 1 second\.$/],
      ['altered', 503, 'record_altered', '1', /Give the request ID [0-9a-f-]{36} to the operator/],
      ['stopped', 503, 'log_stopped', '30', /until the operator has checked it/],
      ['starting', 503, 'ledger_unavailable', '1', /^The transparency log is starting\. Try/],
      ['off', 404, 'not_found', undefined, /^This server keeps no transparency log\./],
    ];
    for (const [kind, status, code, wait, detail] of cases) {
      const given = await readWith({ kind } as ReceiptAnswer);
      assert.deepEqual([given.status, given.body.code], [status, code], kind);
      assert.equal(given.headers['retry-after'], wait, kind);
      assert.match(given.body.detail, detail);
    }
  });

  it('answers 404 for a malformed key_id, without asking the log', async () => {
    const before = asked.length;
    for (const keyId of [
      'x',
      'phm_',
      'phm_0',
      'phm_01',
      `phm_${'9'.repeat(39)}`,
      'phm_1x',
      '%00',
    ]) {
      const { statusCode, json } = await read(keyId);
      assert.equal(statusCode, 404, keyId);
      assert.equal(json().code, 'receipt_not_found', keyId);
      assert.match(json().detail, /^The path has no key_id: "phm_" and a decimal number\./);
    }
    assert.equal((await read('9'.repeat(200))).statusCode, 404);
    assert.equal((await read('a/b')).json().code, 'not_found');
    assert.equal(asked.length, before);
  });

  it('names unknown parameters, and refuses them in strict handling', async () => {
    answer = { kind: 'receipt', receipt: RECEIPT };
    const { warnings } = (await read(KEY_ID, '?wait=1')).json();
    assert.equal(warnings[0].pointer, '?wait');
    const strict = await read(KEY_ID, '?wait=1', { prefer: 'handling=strict' });
    assert.deepEqual([strict.statusCode, strict.json().code], [400, 'invalid_request']);
  });

  it('answers errors of the database, and shows nothing of unexpected ones', async () => {
    const known = await readWith(new AppError('ledger_unavailable', { reason: 'SECRET' }));
    assert.deepEqual([known.status, known.body.code], [503, 'ledger_unavailable']);
    const unknown = await readWith(new Error('SECRET'));
    assert.deepEqual([unknown.status, unknown.body.code], [500, 'internal_error']);
    assert.ok(!JSON.stringify([known, unknown]).includes('SECRET'));
  });

  it('answers HEAD, 405 and preflights, although the key is part of the path', async () => {
    answer = { kind: 'receipt', receipt: RECEIPT };
    const url = `/api/v2/keys/${KEY_ID}/receipt`;
    const head = await app.inject({ method: 'HEAD', url, headers: { 'x-api-key': apiKey } });
    assert.equal(head.statusCode, 200);
    const post = await app.inject({ method: 'POST', url });
    assert.deepEqual([post.statusCode, post.headers.allow], [405, 'GET, HEAD']);
    const headers = { origin: PAGE, 'access-control-request-method': 'GET' };
    const preflight = await app.inject({ method: 'OPTIONS', url, headers });
    assert.equal(preflight.statusCode, 204);
    assert.equal(preflight.headers['access-control-allow-methods'], 'GET, HEAD');
  });
});
