/** Receipts over HTTP: with generate, and by their own address. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { verifyReceipt } from '../../../sdk/src/index.ts';
import { newApiKey } from '../../../src/accounts/index.ts';
import { AppError } from '../../../src/errors.ts';
import {
  CHECKPOINT,
  POLICY,
  RECEIPT,
  RECEIPTED_KEY,
} from '../../../src/http/openapi/receipt-example.ts';
import type { KeyOrder, ReleasedKey } from '../../../src/keys/index.ts';
import {
  absentLog,
  type KeyService,
  type LogApi,
  type ReceiptAnswer,
} from '../../../src/service/index.ts';
import { buildTestApp, standInService, stopMonotonic } from '../../support/servers/app.ts';
import { withDigest } from '../../support/servers/fakes.ts';
import { type AssertAnswer, answersOf } from '../../support/texts/document.ts';

const CREATED_MS = Date.UTC(2026, 0, 31, 12, 0, 0, 7);
const KEY = 'a5'.repeat(32);
const OPENING = Buffer.alloc(32, 0x5a).toString('base64');
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

/** The last key of the service, and the order for it. */
let released: ReleasedKey;
let ordered: KeyOrder;

/** Called for each outcome after the wait for its receipt. */
let afterWait = (): Promise<never> | undefined => undefined;

const generate: KeyService['generate'] = async (_, { order }) => {
  ordered = order;
  const key = {
    keyId: KEY_ID,
    key: Buffer.alloc(32, 0xa5),
    opening: order.receipt ? Buffer.alloc(32, 0x5a) : null,
    securityStrengthBits: 256,
    entropyBits: 254.8,
    entropyJobId: null,
    evidence: null,
    report: null,
    hashProof: `proof_1${'0'.repeat(78)}`,
    latencyMs: 1,
  };
  released = withDigest(key, order);
  const usage = { month: 0, used: 1, quota: null };
  return {
    kind: 'generated',
    createdMs: CREATED_MS,
    keys: [released],
    usage,
    mayRelease: () => true,
  };
};

let app: FastifyInstance;
let assertAnswer: AssertAnswer;
const lines: string[] = [];

before(async () => {
  const service = standInService('research', {
    log: LOG,
    generate,
    refuseUnsound: () => afterWait(),
  });
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  app = await buildTestApp({ service, rateLimits: false, corsOrigins: [PAGE], logger });
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
      ['not_cosigned', 503, 'receipt_pending', '1', /too few witnesses have cosigned .* Try again/],
      [
        'altered',
        500,
        'record_altered',
        undefined,
        /Give the request ID [0-9a-f-]{36} to the operator/,
      ],
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
    const { warnings } = (await read(KEY_ID, '?await=1')).json();
    assert.equal(warnings[0].pointer, '?await');
    const strict = await read(KEY_ID, '?await=1', { prefer: 'handling=strict' });
    assert.deepEqual([strict.statusCode, strict.json().code], [400, 'invalid_request']);
  });

  it('waits for a receipt that is not ready as long as the caller asks', async () => {
    for (const [kind, query, waits] of [
      ['not_cosigned', '?wait=3', [0, 3_000]],
      ['pending', '?wait=1', [0, 1_000]],
      ['pending', '', [0]],
      ['no_receipt', '?wait=5', [0]],
    ] as const) {
      answer = { kind };
      const before = asked.length;
      await read(KEY_ID, query);
      assert.deepEqual(
        asked.slice(before).map(([, , waitMs]) => waitMs),
        waits,
        kind + query,
      );
    }
    for (const wrong of ['0', '6', '1.5', 'x', '']) {
      assert.equal((await read(KEY_ID, `?wait=${wrong}`)).statusCode, 400, wrong);
    }
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

const COMMITMENT = Buffer.alloc(32, 0xc3);
const QUESTION = { key_id: KEY_ID, key_commitment: COMMITMENT.toString('base64') };

const ask = (payload: object, headers: Record<string, string> = {}, on = app) =>
  on.inject({ method: 'POST', url: '/api/v2/receipts', payload, headers });

async function askWith(given: ReceiptAnswer | Error, more: object = {}) {
  answer = given;
  const { statusCode, headers, json } = await ask({ ...QUESTION, ...more });
  return { status: statusCode, headers, body: json() };
}

describe('POST /api/v2/receipts', () => {
  it('returns the receipt by key ID and commitment, without an API key', async () => {
    const { status, body, headers } = await askWith({ kind: 'receipt', receipt: RECEIPT });
    assert.equal(status, 200);
    assert.deepEqual(body.receipt, RECEIPT);
    assertAnswer('receiptByCommitment', 200, body);
    assert.equal(headers['cache-control'], 'no-store');
    assert.deepEqual(asked.at(-1), [KEY_ID, new Uint8Array(COMMITMENT), 0]);
    const holder = asked.at(-1)?.[1] as Uint8Array;
    assert.equal(holder.buffer.byteLength, 32, 'a message to the worker copies nothing else');
    const withKey = await ask(QUESTION, { 'x-api-key': 'phmsk_live_wrong' });
    assert.equal(withKey.statusCode, 200, 'an API key is not read');
  });

  it('has one 404 for an unknown key, a wrong commitment, and a key without a receipt', async () => {
    const answers = [];
    for (const kind of ['unknown_key', 'no_receipt'] as const) {
      const { status, headers, body } = await askWith({ kind });
      assert.equal(status, 404);
      assertAnswer('receiptByCommitment', 404, body);
      const { request_id, instance, timestamp, ...rest } = body;
      const { 'x-request-id': _, date, 'content-length': __, ...others } = headers;
      answers.push({ rest, others });
    }
    assert.deepEqual(answers[0], answers[1]);
    assert.deepEqual(
      [answers[0]?.rest.code, answers[0]?.rest.detail],
      [
        'receipt_not_found',
        'No key with a receipt has this key_id and this key_commitment. Copy both from the header of the sealed key.',
      ],
    );
  });

  it('says why it has none, once the commitment is right', async () => {
    for (const [kind, status, code, wait] of [
      ['pending', 503, 'receipt_pending', '1'],
      ['not_cosigned', 503, 'receipt_pending', '1'],
      ['altered', 500, 'record_altered', undefined],
      ['stopped', 503, 'log_stopped', '30'],
      ['starting', 503, 'ledger_unavailable', '1'],
      ['off', 404, 'not_found', undefined],
    ] as const) {
      const given = await askWith({ kind });
      assert.deepEqual([given.status, given.body.code], [status, code], kind);
      assert.equal(given.headers['retry-after'], wait, kind);
    }
    const failed = await askWith(new AppError('ledger_unavailable', { reason: 'SECRET' }));
    assert.deepEqual([failed.status, failed.body.code], [503, 'ledger_unavailable']);
    assert.ok(!JSON.stringify(failed).includes('SECRET'));
  });

  it('names malformed fields, without asking the log and without quoting them', async () => {
    const before = asked.length;
    const base64 = QUESTION.key_commitment;
    for (const [more, pointer, message] of [
      [{ key_id: 'phm_01' }, '#/key_id', /^must be "phm_" and a decimal number; got a string of 6/],
      [{ key_id: 7 }, '#/key_id', /^must be a string; got a number/],
      [{ key_id: undefined }, '#/key_id', /^is required/],
      [{ key_commitment: base64.slice(1) }, '#/key_commitment', /^must be base64 of 32 bytes: 44/],
      [{ key_commitment: `${base64}\n` }, '#/key_commitment', /a string of 45 characters$/],
      [{ key_commitment: base64.replace(/.=$/, 'N=') }, '#/key_commitment', /^must be base64/],
      [{ key_commitment: null }, '#/key_commitment', /^must be a string; got null/],
      [{ wait: 6 }, '#/wait', /^must be at most 5; got 6/],
      [{ wait: 0 }, '#/wait', /^must be at least 1; got 0/],
      [{ wait: '3' }, '#/wait', /^must be a whole number/],
    ] as const) {
      const { statusCode, json } = await ask({ ...QUESTION, ...more });
      assert.deepEqual([statusCode, json().code], [400, 'invalid_request']);
      const [error] = json().errors;
      assert.equal(error.pointer, pointer);
      assert.match(error.message, message);
      assert.ok(!JSON.stringify(json()).includes(base64.slice(1, 20)));
    }
    const none = await app.inject({ method: 'POST', url: '/api/v2/receipts' });
    assert.deepEqual([none.statusCode, none.json().code], [400, 'malformed_json']);
    assert.equal(asked.length, before);
  });

  it('names unknown fields, and refuses them in strict handling', async () => {
    const { body } = await askWith({ kind: 'receipt', receipt: RECEIPT }, { account: 'x' });
    assert.equal(body.warnings[0].pointer, '#/account');
    const strict = await ask({ ...QUESTION, account: 'x' }, { prefer: 'handling=strict' });
    assert.deepEqual([strict.statusCode, strict.json().code], [400, 'invalid_request']);
    assert.equal(strict.headers['preference-applied'], 'handling=strict');
  });

  it('waits for a receipt that is not ready as long as the caller asks', async () => {
    for (const [kind, wait, waits] of [
      ['not_cosigned', 3, [0, 3_000]],
      ['pending', 1, [0, 1_000]],
      ['pending', null, [0]],
      ['unknown_key', 5, [0]],
      ['no_receipt', 5, [0]],
    ] as const) {
      const before = asked.length;
      await askWith({ kind }, { wait });
      assert.deepEqual(
        asked.slice(before).map(([, , waitMs]) => waitMs),
        waits,
        kind,
      );
    }
  });

  it('is limited by address, as requests without a valid API key are', async (t) => {
    stopMonotonic(t);
    const log = { ...LOG, receipt: async () => ({ kind: 'unknown_key' }) as const };
    const limited = await buildTestApp({ service: standInService('research', { log }) });
    t.after(() => limited.close());
    const from = (remoteAddress: string, url = '/api/v2/receipts') =>
      limited.inject({ method: 'POST', url, payload: QUESTION, remoteAddress });
    for (let i = 0; i < 99; i++) assert.equal((await from('192.0.2.1')).statusCode, 404);
    assert.equal((await from('192.0.2.1', '/api/v2/generate')).statusCode, 401);
    const refused = await from('192.0.2.1');
    assert.deepEqual([refused.statusCode, refused.json().code], [429, 'rate_limited']);
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/);
    assert.equal((await from('192.0.2.1', '/api/v2/generate')).statusCode, 429);
    assert.equal((await from('192.0.2.2')).statusCode, 404);
  });

  it('bounds the requests in progress, and those that wait apart from the others', async (t) => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let holds = 0;
    const log: LogApi = {
      ...LOG,
      receipt: async (_, __, waitMs) => {
        if (waitMs === holds) await held;
        return { kind: 'pending' };
      },
    };
    const service = standInService('research', { log });
    const bounded = await buildTestApp({ service, rateLimits: false });
    t.after(() => bounded.close());
    const send = (wait?: number) => ask({ ...QUESTION, ...(wait && { wait }) }, {}, bounded);
    const codes = async (sent: ReturnType<typeof send>[]) =>
      (await Promise.all(sent)).map((one) => one.json().code);
    holds = 2_000;
    const waiting = Array.from({ length: 65 }, () => send(2));
    assert.equal(
      await Promise.race(waiting.map(async (one) => (await one).json().code)),
      'overloaded',
    );
    assert.deepEqual(await codes([send()]), ['receipt_pending'], 'without a wait it is answered');
    release();
    const ended = await codes(waiting);
    assert.equal(ended.filter((code) => code === 'receipt_pending').length, 64);
  });

  it('answers other origins, preflights and other methods as the other paths do', async () => {
    answer = { kind: 'receipt', receipt: RECEIPT };
    const url = '/api/v2/receipts';
    const page = await ask(QUESTION, { origin: PAGE });
    assert.equal(page.headers['access-control-allow-origin'], PAGE);
    const other = await ask(QUESTION, { origin: 'https://other.example' });
    assert.equal(other.headers['access-control-allow-origin'], undefined);
    const headers = { origin: PAGE, 'access-control-request-method': 'POST' };
    const preflight = await app.inject({ method: 'OPTIONS', url, headers });
    assert.equal(preflight.statusCode, 204);
    assert.equal(preflight.headers['access-control-allow-methods'], 'POST');
    const get = await app.inject({ url });
    assert.deepEqual([get.statusCode, get.headers.allow], [405, 'POST']);
  });
});

async function generateWith(body: object, on = app) {
  const { statusCode, json, payload } = await on.inject({
    method: 'POST',
    url: '/api/v2/generate',
    headers: { 'x-api-key': apiKey },
    payload: { security_level: 256, ...body },
  });
  return { status: statusCode, body: json(), payload };
}

const WITH_RECEIPT = { include: ['receipt'] };
const isWiped = (bytes: Uint8Array | null) => bytes?.every((byte) => byte === 0);

describe('POST /api/v2/generate with include receipt', () => {
  it('returns the receipt, its address and the opening, and wipes key and opening', async () => {
    answer = { kind: 'receipt', receipt: RECEIPT };
    const { status, body } = await generateWith(WITH_RECEIPT);
    assert.equal(status, 200);
    assertAnswer('generate', 200, body);
    assert.equal(ordered.receipt, true);
    assert.deepEqual(body.receipt, RECEIPT);
    assert.equal(body.receipt_url, `/api/v2/keys/${KEY_ID}/receipt`);
    assert.deepEqual([body.key, body.opening], [KEY, OPENING]);
    assert.equal(body.timestamp, '2026-01-31T12:00:00.007+00:00');
    assert.deepEqual(asked.at(-1), [KEY_ID, 'acct', 2_000]);
    assert.ok(isWiped(released.key));
    assert.ok(isWiped(released.opening));
  });

  it('returns none of these unless it is asked, and does not ask the log', async () => {
    const before = asked.length;
    for (const more of [{}, { include: [] }, { include: null }, { include: ['hash_proof'] }]) {
      const { status, body } = await generateWith(more);
      assert.equal(status, 200);
      assert.equal(ordered.receipt, false);
      for (const name of ['receipt', 'receipt_url', 'opening']) assert.ok(!(name in body), name);
      assert.ok(isWiped(released.key));
    }
    assert.equal(asked.length, before);
  });

  it('returns the key although the log has no receipt yet, stops or fails', async () => {
    const kinds = ['pending', 'stopped', 'starting', 'altered', 'unknown_key', 'no_receipt'];
    const given = kinds.map((kind) => ({ kind }) as ReceiptAnswer);
    for (const one of [...given, new AppError('ledger_unavailable'), new Error(OPENING)]) {
      answer = one;
      const { status, body } = await generateWith(WITH_RECEIPT);
      assert.equal(status, 200);
      assertAnswer('generate', 200, body);
      assert.equal(body.receipt, null);
      assert.equal(body.receipt_url, `/api/v2/keys/${KEY_ID}/receipt`);
      assert.deepEqual([body.key, body.opening], [KEY, OPENING]);
      assert.ok(isWiped(released.key));
      assert.ok(isWiped(released.opening));
    }
    const warned = lines.filter((line) => line.includes('the receipt for a new key'));
    assert.equal(warned.length, 2);
    const log = lines.join('');
    for (const secret of [OPENING, KEY]) assert.ok(!log.includes(secret));
  });

  it('returns no key after a wait in which a defect of its generator was found', async (t) => {
    const order: string[] = [];
    answer = { kind: 'pending' };
    const before = asked.length;
    afterWait = () => {
      order.push(asked.length > before ? 'after the wait' : 'before the wait');
      return Promise.reject(new AppError('entropy_unavailable'));
    };
    t.after(() => {
      afterWait = () => undefined;
    });
    const { status, body, payload } = await generateWith(WITH_RECEIPT);
    assert.deepEqual([status, order], [503, ['after the wait']]);
    assertAnswer('generate', 503, body);
    for (const secret of [OPENING, KEY]) assert.ok(!payload.includes(secret));
    assert.ok(isWiped(released.key));
  });

  it('returns the key after 2.5 s if the log does not answer at all', async () => {
    const log = { ...LOG, receipt: () => new Promise<never>(() => {}) };
    const service = standInService('research', { log, generate });
    const silent = await buildTestApp({ service });
    const startMs = performance.now();
    const { status, body } = await generateWith(WITH_RECEIPT, silent);
    const tookMs = performance.now() - startMs;
    assert.deepEqual([status, body.receipt, body.key], [200, null, KEY]);
    assert.ok(tookMs > 2_400, `${tookMs} ms`);
    assert.ok(isWiped(released.opening));
    await silent.close();
  });

  it('answers 400 on a server without a log, before a key is generated', async () => {
    let generated = 0;
    const off = await buildTestApp({
      service: standInService('research', {
        log: absentLog('off'),
        generate: async (...all) => {
          generated += 1;
          return generate(...all);
        },
      }),
    });
    const { status, body } = await generateWith({ include: ['hash_proof', 'receipt'] }, off);
    assert.deepEqual([status, body.code], [400, 'invalid_request']);
    assert.equal(body.errors[0].pointer, '#/include/1');
    assert.equal(
      body.detail,
      '"include[1]" is receipt, but this server keeps no transparency log. Leave it out, or ask the operator to turn the log on.',
    );
    assert.equal(generated, 0);
    await off.close();
  });

  it('names the address of the receipt with the base path', async () => {
    answer = { kind: 'receipt', receipt: RECEIPT };
    const service = standInService('research', { log: LOG, generate });
    const below = await buildTestApp({ service, basePath: '/security/phm' });
    const headers = { 'x-api-key': apiKey };
    const payload = { security_level: 256, ...WITH_RECEIPT };
    const url = '/security/phm/api/v2/generate';
    const { receipt_url } = (await below.inject({ method: 'POST', url, headers, payload })).json();
    assert.equal(receipt_url, `/security/phm/api/v2/keys/${KEY_ID}/receipt`);
    assert.equal((await below.inject({ url: receipt_url, headers })).statusCode, 200);
    await below.close();
  });
});

describe('the example of a receipt in docs/examples', () => {
  it('verifies under the policy beside it, with its key and opening', async () => {
    const { receipt, key, opening } = RECEIPTED_KEY;
    const verdict = await verifyReceipt(receipt, { policy: POLICY, key, opening });
    assert.deepEqual(verdict.problems, []);
    assert.ok(receipt.proof.endsWith(CHECKPOINT));
    assert.equal(RECEIPTED_KEY.receipt_url, `/api/v2/keys/${RECEIPTED_KEY.key_id}/receipt`);
  });
});
