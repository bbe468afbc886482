/** The four endpoints that generate keys, over a fake service: what they ask it for, and what they answer. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { openSealedKey } from '../../../sdk/src/index.ts';
import { newApiKey } from '../../../src/accounts/index.ts';
import { utcMonth } from '../../../src/clock.ts';
import { AppError } from '../../../src/errors.ts';
import { RECEIPT } from '../../../src/http/openapi/receipt-example.ts';
import { SEAL_TO, SEALED_KEY } from '../../../src/http/openapi/sealed-example.ts';
import { joinedText } from '../../../src/http/wire/key-answer.ts';
import type {
  GenerateOutcome,
  KeyRequest,
  Recipient,
  ReleasedKey,
} from '../../../src/keys/index.ts';
import type { Principal } from '../../../src/ledger/index.ts';
import { absentLog, type KeyService, type LogApi } from '../../../src/service/index.ts';
import { buildTestApp, standInService, stopMonotonic } from '../../support/servers/app.ts';
import { withDigest } from '../../support/servers/fakes.ts';
import { type AssertAnswer, answersOf } from '../../support/texts/document.ts';

const CREATED_MS = Date.UTC(2026, 0, 31, 12);
const USAGE = { month: 0, used: 1, quota: null };
const apiKey = newApiKey('live');

const FACTS = {
  securityStrengthBits: 256,
  entropyBits: 254.8,
  entropyJobId: null,
  evidence: null,
  report: null,
  latencyMs: 1.2345,
};

const keyIdOf = (i: number) => `phm_${2_170_429_376_983_703n + BigInt(i)}`;
const isWiped = (bytes: Uint8Array | null) => bytes?.every((byte) => byte === 0) ?? true;

/** What the last request asked for, the plain keys that it got, and how many requests came. */
let asked: KeyRequest;
let released: ReleasedKey[] = [];
let calls = 0;
/** The outcome, instead of keys, or the error of the service. */
let instead: GenerateOutcome | Error | undefined;
let replayed = false;
const mayRelease = () => true;

const generate: KeyService['generate'] = async (_, request, { render }) => {
  asked = request;
  calls += 1;
  if (instead instanceof Error) throw instead;
  if (instead) return instead;
  const ids = Array.from({ length: request.count }, (_, i) => keyIdOf(i));
  if (request.sealTo) {
    const sealedKeys = Array(request.sealTo.length).fill(SEALED_KEY.sealed_key);
    const keys = ids.map((keyId) => ({ ...FACTS, keyId, sealedKeys }));
    const body = render?.(keys, CREATED_MS) ?? '';
    return {
      kind: 'sealed',
      createdMs: CREATED_MS,
      keyIds: ids,
      body,
      usage: USAGE,
      replayed,
      mayRelease,
    };
  }
  released = ids.map((keyId) =>
    withDigest(
      {
        ...FACTS,
        keyId,
        key: Buffer.alloc(request.order.securityLevel / 8, 0xa5),
        opening: request.order.receipt ? Buffer.alloc(32, 0x5a) : null,
        hashProof: `proof_1${'0'.repeat(78)}`,
      },
      request.order,
    ),
  );
  return { kind: 'generated', createdMs: CREATED_MS, keys: released, usage: USAGE, mayRelease };
};

/** Key IDs that the log was asked for. */
let receiptsOf: string[] = [];
let receipt: 'given' | 'pending' | 'broken' = 'given';

const LOG: LogApi = {
  ...absentLog('starting'),
  receipt: async (keyId) => {
    receiptsOf.push(keyId);
    if (receipt === 'broken') throw new AppError('overloaded');
    return receipt === 'given' ? { kind: 'receipt', receipt: RECEIPT } : { kind: 'pending' };
  },
};

let app: FastifyInstance;
let assertAnswer: AssertAnswer;

const serviceOf = (more: Partial<KeyService> = {}, plan = 'research') =>
  standInService(plan, { log: LOG, generate, ...more });

before(async () => {
  app = await buildTestApp({ service: serviceOf(), rateLimits: false });
  assertAnswer = answersOf((await app.inject('/api/v2/openapi.json')).json());
});
after(() => app.close());
beforeEach(() => {
  instead = undefined;
  replayed = false;
  receipt = 'given';
  receiptsOf = [];
  calls = 0;
});

const LEVEL = { security_level: 256 };
const RECIPIENT = { seal_to: { recipient: 'build-server' } };

/** The endpoints by operation, with the smallest body of each. */
const ENDPOINTS = {
  generate: { path: 'generate', body: LEVEL },
  generateSealed: { path: 'generate/sealed', body: { ...LEVEL, ...RECIPIENT } },
  generateBatch: { path: 'generate/batch', body: { ...LEVEL, count: 3 } },
  generateSealedBatch: {
    path: 'generate/sealed/batch',
    body: { ...LEVEL, ...RECIPIENT, count: 3 },
  },
} as const;

type Operation = keyof typeof ENDPOINTS;
const OPERATIONS = Object.keys(ENDPOINTS) as Operation[];

interface Sent {
  readonly headers?: Record<string, string>;
  readonly on?: FastifyInstance;
}

async function post(operation: Operation, more: object = {}, { headers, on = app }: Sent = {}) {
  const { path, body } = ENDPOINTS[operation];
  const answer = await on.inject({
    method: 'POST',
    url: `/api/v2/${path}`,
    headers: { 'x-api-key': apiKey, ...headers },
    payload: { ...body, ...more },
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: answer.payload,
    body: answer.json(),
  };
}

async function refusal(operation: Operation, more: object, sent?: Sent) {
  const { status, body, headers } = await post(operation, more, sent);
  assert.equal(body.success, false, JSON.stringify(body).slice(0, 200));
  assertAnswer(operation, status, body);
  return { status, code: body.code, detail: body.detail as string, body, headers };
}

/** Answers requests for keys, and records what their log lines say besides the usual. */
async function logged(t: TestContext) {
  const lines: object[] = [];
  const write = (line: string) => {
    const { msg, keys, replayed: isReplay } = JSON.parse(line);
    if (msg === 'request') lines.push({ keys, replayed: isReplay });
  };
  const on = await buildTestApp({
    service: serviceOf(),
    rateLimits: false,
    logger: pino({}, { write }),
  });
  t.after(() => on.close());
  return { on, lines };
}

describe('an answer whose text is not of its keys', () => {
  /** Answers a request after `change` has changed what the service released. */
  async function answered(
    operation: 'generate' | 'generateBatch',
    change: (keys: ReleasedKey[]) => unknown,
    body: object = {},
  ) {
    let refusals = 0;
    const on = await buildTestApp({
      service: serviceOf({
        generate: async (...all) => {
          const outcome = await generate(...all);
          change(released);
          return outcome;
        },
        refuseAnswer: () => {
          refusals += 1;
          return new AppError('entropy_unavailable', { retryAfterSeconds: 5 });
        },
      }),
      rateLimits: false,
    });
    const { status, body: problem, text } = await post(operation, body, { on });
    await on.close();
    return { status, code: problem.code, refusals, text };
  }

  const isRefused = ({ status, code, refusals, text }: Awaited<ReturnType<typeof answered>>) => {
    assert.deepEqual([status, code, refusals], [503, 'entropy_unavailable', 1]);
    assert.ok(!text.includes('a5'.repeat(8)) && !text.includes('"key"'), text);
    assert.ok(released.every(({ key, opening }) => isWiped(key) && isWiped(opening)));
  };

  it('latches, wipes and becomes 503: an altered key, ID, proof or opening, or the keys of another request', async () => {
    const one = (changes: (key: ReleasedKey) => object) => (keys: ReleasedKey[]) => {
      keys[0] = Object.assign(keys[0] as ReleasedKey, changes(keys[0] as ReleasedKey));
    };
    const faults = [
      one(({ key }) => ({ key: key.map((byte, i) => (i === 31 ? byte ^ 1 : byte)) })),
      one(({ key }) => ({ key: key.subarray(0, 16) })),
      one(() => ({ keyId: keyIdOf(77) })),
      one(() => ({ hashProof: `proof_2${'0'.repeat(78)}` })),
      one(({ opening }) => ({ opening: opening?.map((byte) => byte ^ 1) })),
      one(() => ({ opening: null })),
      one((key) => withDigest(key, { acceptedMs: -1 })),
      one(() => ({ answerDigest: Buffer.alloc(16) })),
    ];
    for (const fault of faults) {
      isRefused(await answered('generate', fault, { include: ['receipt'] }));
    }
  });

  it('is noticed in one of many keys, and if two have swapped their places', async () => {
    isRefused(
      await answered('generateBatch', (keys) => {
        (keys[2] as ReleasedKey).key[0] ^= 0x80;
      }),
    );
    isRefused(
      await answered('generateBatch', (keys) => {
        const [first, second] = keys as [ReleasedKey, ReleasedKey];
        const { key } = first;
        Object.assign(first, { key: Buffer.alloc(32, 0x3c) });
        Object.assign(second, { key });
      }),
    );
  });

  it('is noticed if the encoding of the key fails', async () => {
    let refusals = 0;
    const on = await buildTestApp({
      service: serviceOf({
        refuseAnswer: () => {
          refusals += 1;
          return new AppError('entropy_unavailable', { retryAfterSeconds: 5 });
        },
      }),
      rateLimits: false,
    });
    const stringify = Buffer.prototype.toString;
    Buffer.prototype.toString = function (this: Buffer, ...all: Parameters<typeof stringify>) {
      const text = stringify.apply(this, all);
      return all[0] === 'hex' && text.startsWith('a5a5') ? `b${text.slice(1)}` : text;
    } as typeof stringify;
    try {
      const { status } = await post('generate', {}, { on });
      assert.deepEqual([status, refusals], [503, 1]);
    } finally {
      Buffer.prototype.toString = stringify;
    }
    assert.equal((await post('generate')).status, 200);
    await on.close();
  });
});

describe('each endpoint that generates keys', () => {
  it('answers as the document says, and wipes plaintext keys', async () => {
    for (const operation of OPERATIONS) {
      const { status, headers, body } = await post(operation);
      assert.equal(status, 200, operation);
      assertAnswer(operation, 200, body);
      assert.equal(headers['content-type'], 'application/json; charset=utf-8');
      assert.ok(released.every(({ key }) => isWiped(key)));
      assert.equal(asked.isBatch, operation.endsWith('Batch'));
      assert.equal(asked.count, asked.isBatch ? 3 : 1);
      const keys = asked.isBatch ? body.keys : [body];
      assert.deepEqual(
        keys.map((key: { key_id: string }) => key.key_id),
        Array.from({ length: asked.count }, (_, i) => keyIdOf(i)),
      );
      if (asked.isBatch) assert.deepEqual([body.count, 'key_id' in body], [3, false]);
      for (const key of keys) {
        assert.deepEqual([key.timestamp, key.latency_ms], ['2026-01-31T12:00:00.000+00:00', 1.235]);
        assert.equal('sealed_key' in key, operation.includes('Sealed'));
        for (const name of ['key', 'hash_proof']) {
          assert.equal(name in key, !operation.includes('Sealed'), name);
        }
      }
    }
  });

  it('logs how many keys it answers, and whether it makes no second ones', async (t) => {
    const { on, lines } = await logged(t);
    const single = { keys: 1, replayed: undefined };
    const batch = { keys: 3, replayed: undefined };
    for (const operation of OPERATIONS) await post(operation, {}, { on });
    assert.deepEqual(lines.splice(0), [single, single, batch, batch]);
    replayed = true;
    await post('generateSealedBatch', {}, { on });
    assert.deepEqual(lines.splice(0), [{ keys: 3, replayed: true }]);
    const already = { keyIds: [keyIdOf(0)], createdMs: CREATED_MS, usage: USAGE };
    instead = { kind: 'key_already_made', ...already };
    await post('generate', {}, { on });
    instead = { kind: 'quota_exceeded', usage: { ...USAGE, quota: 1 } };
    await post('generate', {}, { on });
    const none = { keys: undefined, replayed: undefined };
    assert.deepEqual(lines, [{ ...none, replayed: true }, none]);
  });

  it('joins receipts, which wait together, and names their addresses', async () => {
    for (const operation of OPERATIONS) {
      for (receipt of ['given', 'pending', 'broken'] as const) {
        receiptsOf = [];
        const { status, body } = await post(operation, { include: ['receipt'], unknown: 1 });
        assert.equal(status, 200);
        assertAnswer(operation, 200, body);
        assert.equal(body.warnings.length, 1);
        const keys = asked.isBatch ? body.keys : [body];
        assert.equal(receiptsOf.length, keys.length);
        for (const key of keys) {
          assert.deepEqual(key.receipt, receipt === 'given' ? RECEIPT : null);
          assert.equal(key.receipt_url, `/api/v2/keys/${key.key_id}/receipt`);
          assert.equal('opening' in key, !operation.includes('Sealed'));
        }
        assert.ok(released.every(({ key, opening }) => isWiped(key) && isWiped(opening)));
      }
    }
  });

  it('warns of unknown fields, also inside seal_to, and refuses them in strict handling', async () => {
    const strict = { headers: { prefer: 'handling=strict' } };
    for (const operation of OPERATIONS) {
      const { body } = await post(operation, { counts: 1 });
      assert.equal(body.warnings[0].pointer, '#/counts', operation);
      assert.equal((await refusal(operation, { counts: 1 }, strict)).code, 'invalid_request');
    }
    for (const operation of ['generate', 'generateSealed'] as const) {
      for (const count of [0, 5, 'x']) {
        const { status, body } = await post(operation, { count, include: ['receipt'] });
        assert.deepEqual([status, body.warnings[0].pointer], [200, '#/count']);
        assert.deepEqual([asked.count, asked.isBatch], [1, false]);
      }
    }
    const seal_to = { recipient: 'build-server', recipients: 'x' };
    const { body } = await post('generateSealed', { seal_to, suite: 'x' });
    assert.deepEqual(
      body.warnings.map(({ pointer, detail }: Record<string, string>) => [pointer, detail]),
      [
        ['#/suite', '"suite" is not a known field and was ignored; it is a field of "seal_to".'],
        ['#/seal_to/recipients', '"seal_to.recipients" is not a known field and was ignored.'],
      ],
    );
    const { detail } = await refusal('generateSealed', { seal_to }, strict);
    assert.match(detail, /^"seal_to.recipients" is not a known field/);
  });

  it('passes on Idempotency-Key, with one hash for requests that ask for the same', async () => {
    const hashOf = async (operation: Operation, more: object, key = '"a-1"') => {
      await post(operation, more, { headers: { 'idempotency-key': key } });
      assert.equal(asked.idempotency?.key, 'a-1');
      return Buffer.from(asked.idempotency?.requestHash ?? []).toString('hex');
    };
    for (const operation of OPERATIONS) {
      await post(operation);
      assert.equal(asked.idempotency, null);
      const hash = await hashOf(operation, {});
      assert.equal(hash.length, 64);
      for (const same of [
        { modulation_type: 'phase', entropy_source: 'os' },
        { enable_nist_validation: false, include: [] },
        { include: null, unknown: 'x' },
      ]) {
        assert.equal(await hashOf(operation, same, 'a-1'), hash);
      }
      for (const other of [
        { security_level: 128 },
        { modulation_type: 'none' },
        { include: ['receipt'] },
        { enable_nist_validation: true },
      ]) {
        assert.notEqual(await hashOf(operation, other), hash);
      }
    }
    assert.equal(
      await hashOf('generate', { include: ['receipt', 'hash_proof', 'receipt'] }),
      await hashOf('generate', { include: ['receipt'] }),
    );
    assert.equal(await hashOf('generate', { count: 7 }), await hashOf('generate', {}));
    const suite = 'MLKEM768-X25519';
    const { public_key } = SEAL_TO;
    const hash = await hashOf('generateSealed', { seal_to: { public_key } });
    assert.equal(await hashOf('generateSealed', { seal_to: { suite, public_key } }), hash);
    assert.equal(await hashOf('generateSealed', { seal_to: SEAL_TO }), hash);
    assert.notEqual(await hashOf('generateSealed', {}), hash);
    const hashes = new Set(await Promise.all([hash, hashOf('generateBatch', { count: 1 })]));
    hashes.add(await hashOf('generateBatch', { count: 2 }));
    assert.equal(hashes.size, 3);
  });

  it('has the same hash below a base path', async () => {
    const below = await buildTestApp({ service: serviceOf(), basePath: '/phm' });
    const headers = { 'x-api-key': apiKey, 'idempotency-key': 'k' };
    await post('generate', {}, { headers });
    const hash = asked.idempotency?.requestHash;
    const url = '/phm/api/v2/generate';
    await below.inject({ method: 'POST', url, headers, payload: LEVEL });
    assert.deepEqual(asked.idempotency?.requestHash, hash);
    await below.close();
  });

  it('refuses a malformed Idempotency-Key before it reads the body', async () => {
    for (const operation of OPERATIONS) {
      const headers = { 'idempotency-key': 'two words' };
      const { code, detail } = await refusal(operation, { security_level: 1 }, { headers });
      assert.equal(code, 'invalid_request');
      assert.match(detail, /^The header Idempotency-Key must have 1 to 255 .*Send it once, with/);
    }
    assert.equal(calls, 0);
  });

  it('turns each outcome without keys into its error', async () => {
    const keyIds = [keyIdOf(0), keyIdOf(1)];
    const made = { kind: 'key_already_made', keyIds, createdMs: CREATED_MS, usage: USAGE } as const;
    const cases: [Operation, GenerateOutcome, number, string, RegExp][] = [
      [
        'generate',
        { ...made, keyIds: [keyIdOf(0)] },
        409,
        'key_already_made',
        /^The first request generated the key phm_\d+ at 2026-01-31T12:00:00\.000\+00:00\. The key is not stored/,
      ],
      ['generateBatch', made, 409, 'key_already_made', /generated 2 keys .*"key_ids" names them\./],
      [
        'generateSealed',
        { kind: 'unknown_recipient', index: 0 },
        400,
        'invalid_request',
        /^"seal_to\.recipient" is not the name of a recipient of this account\./,
      ],
      [
        'generateSealed',
        { kind: 'invalid_public_key', index: 0, problem: 'It is broken.' },
        400,
        'invalid_request',
        /^"seal_to\.recipient" names a public key that cannot be used\. It is broken\.$/,
      ],
      [
        'generateBatch',
        { kind: 'batch_too_large', maxCount: 2, reason: 'validation' },
        413,
        'batch_too_large',
        /within the time limit of a request\. Send a "count" of at most 2, and the rest/,
      ],
      [
        'generateSealedBatch',
        { kind: 'batch_too_large', maxCount: 2, reason: 'stored_answer' },
        413,
        'batch_too_large',
        /too large to keep .*\. Send a "count" of at most 2,/,
      ],
      [
        'generateSealedBatch',
        { kind: 'batch_too_large', maxCount: 500, reason: 'recipients' },
        413,
        'batch_too_large',
        /^A response has at most 1000 sealed keys, one for each key and recipient\. Send a "count" of at most 500,/,
      ],
    ];
    for (const [operation, outcome, status, code, detail] of cases) {
      instead = outcome;
      const given = await refusal(operation, {});
      assert.deepEqual([given.status, given.code], [status, code]);
      assert.match(given.detail, detail);
      if (outcome.kind === 'batch_too_large') assert.equal(given.body.max_count, outcome.maxCount);
    }
    instead = { ...made, keyIds: [keyIdOf(0)] };
    assert.equal((await refusal('generate', {})).body.key_id, keyIdOf(0));
    instead = made;
    const { body } = await refusal('generateBatch', {});
    assert.deepEqual([body.key_ids, 'key_id' in body], [keyIds, false]);
    instead = new AppError('idempotency_in_progress');
    const { status, headers } = await refusal('generate', {});
    assert.deepEqual([status, headers['retry-after']], [409, '1']);
    instead = new AppError('idempotency_key_reused');
    assert.equal((await refusal('generateSealed', {})).status, 422);
  });

  it('says how many requests of the quota remain for a batch', async () => {
    const month = utcMonth(Date.now());
    instead = { kind: 'quota_exceeded', usage: { month, used: 880, quota: 1_000 } };
    const { status, detail, headers } = await refusal('generateBatch', { count: 500 });
    assert.equal(status, 429);
    assert.equal(
      detail,
      "A batch of 500 keys takes 500 requests of the account's monthly quota, and 120 remain. Send a batch of at most 120, wait for the next calendar month (UTC), or move to a larger plan.",
    );
    assert.match(String(headers.ratelimit), /"quota";r=120;/);
    instead = { kind: 'quota_exceeded', usage: { month, used: 1_000, quota: 1_000 } };
    assert.match((await refusal('generateBatch', {})).detail, /^The account has used its plan's/);
  });

  it('wipes the keys if the answer fails', async () => {
    const broken = await buildTestApp({
      service: serviceOf({
        log: {
          ...LOG,
          status: () => ({ ...LOG.status(), state: 'running' }),
          receipt: () => {
            throw new Error('SECRET');
          },
        },
        usageOf: () => USAGE,
      }),
    });
    const { status } = await post('generateBatch', { include: ['receipt'] }, { on: broken });
    assert.equal(status, 200);
    assert.ok(released.length === 3 && released.every(({ key }) => isWiped(key)));
    await broken.close();
    let reads = 0;
    const late = await buildTestApp({
      service: serviceOf({
        // Fails when the usage after the request is noted.
        quotaNowMs: () => {
          reads += 1;
          if (reads > 1) throw new Error('SECRET');
          return Date.now();
        },
        usageOf: () => ({ ...USAGE, quota: 10 }),
        generate: async (...all) => {
          const outcome = await generate(...all);
          return outcome.kind === 'generated'
            ? { ...outcome, usage: { ...USAGE, quota: 10 } }
            : outcome;
        },
      }),
      rateLimits: false,
    });
    const failed = await post('generateBatch', {}, { on: late });
    assert.deepEqual([failed.status, failed.body.code], [500, 'internal_error']);
    assert.ok(released.length === 3 && released.every(({ key }) => isWiped(key)));
    await late.close();
  });
});

describe('a plaintext endpoint', () => {
  it('refuses seal_to, which it would have to ignore', async () => {
    for (const operation of ['generate', 'generateBatch'] as const) {
      for (const headers of [{}, { prefer: 'handling=strict' }]) {
        const { code, body } = await refusal(operation, RECIPIENT, { headers });
        assert.equal(code, 'invalid_request');
        const where = operation === 'generate' ? '' : '/batch';
        assert.deepEqual(body.errors, [
          {
            pointer: '#/seal_to',
            message: `is a field of /api/v2/generate/sealed${where}: send the request there`,
          },
        ]);
      }
    }
    assert.equal(calls, 0);
  });

  it('refuses an account with sealed keys only, before the body is read', async () => {
    const known = (await serviceOf().authenticate(Buffer.alloc(32), '')) as Principal;
    for (const sealedOnly of ['on', 'registered'] as const) {
      const authenticate = async () => ({ ...known, sealedOnly });
      const on = await buildTestApp({ service: serviceOf({ authenticate }) });
      for (const operation of OPERATIONS) {
        const { status, body } = await post(operation, RECIPIENT, { on });
        const isPlain = !operation.includes('Sealed');
        assert.equal(status, isPlain ? 403 : 200, operation);
        if (!isPlain) continue;
        assert.equal(body.code, 'sealed_only');
        assert.match(body.detail, /^Send the request to \/api\/v2\/generate\/sealed, or a batch/);
      }
      await on.close();
    }
  });

  it('refuses a public key of an account with registered recipients only, before a key is made', async () => {
    const known = (await serviceOf().authenticate(Buffer.alloc(32), '')) as Principal;
    const authenticate = async () => ({ ...known, sealedOnly: 'registered' as const });
    const on = await buildTestApp({ service: serviceOf({ authenticate }) });
    calls = 0;
    for (const operation of ['generateSealed', 'generateSealedBatch'] as const) {
      for (const seal_to of [SEAL_TO, [{ recipient: 'a' }, SEAL_TO]]) {
        const { status, body } = await post(operation, { seal_to }, { on });
        assert.deepEqual([status, body.code], [403, 'recipient_not_registered']);
        assert.match(body.detail, /^Name a registered recipient/);
      }
    }
    assert.equal(calls, 0);
    await on.close();
  });
});

describe('a sealed response', () => {
  it('is the stored text, byte for byte, and says that it is a replay', async () => {
    for (const operation of ['generateSealed', 'generateSealedBatch'] as const) {
      replayed = false;
      const first = await post(operation);
      replayed = true;
      const again = await post(operation);
      assert.equal(again.text, first.text);
      assert.equal(first.headers['idempotent-replayed'], undefined);
      assert.equal(again.headers['idempotent-replayed'], 'true');
      const receipted = await post(operation, { include: ['receipt'] });
      const cut = receipted.text.replaceAll(
        `,"receipt":${JSON.stringify(RECEIPT)},"receipt_url":"`,
        '@',
      );
      assert.equal(cut.replace(/@[^"]*"/g, ''), first.text);
    }
  });

  it('is not sent, also as a replay, if a defect was found while it waited for receipts', async () => {
    for (const isReplay of [false, true]) {
      const order: number[] = [];
      const service = serviceOf({
        refuseUnsound: () => {
          order.push(receiptsOf.length);
          return Promise.reject(new AppError('entropy_unavailable'));
        },
      });
      const on = await buildTestApp({ service, rateLimits: false });
      replayed = isReplay;
      receiptsOf = [];
      const sent = await post('generateSealedBatch', { include: ['receipt'] }, { on });
      assert.deepEqual([sent.status, order], [503, [receiptsOf.length]]);
      assert.ok(receiptsOf.length > 0);
      assert.ok(!sent.text.includes(SEALED_KEY.sealed_key.ciphertext));
      await on.close();
    }
  });

  it('is valid JSON with whatever is joined to it', () => {
    const unit = fc.constantFrom('"', '\\', '}', ']', ',', '{', ':', 'key_id', 'phm_1', 'é');
    const texts = fc.string({ unit, maxLength: 12 });
    const labels = fc.dictionary(
      fc.constantFrom('key_id', 'keys', 'a'),
      fc.constantFrom('phm_1', '}'),
    );
    const key = fc.record({ a: texts, b: fc.array(texts, { maxLength: 2 }), labels });
    fc.assert(
      fc.property(
        fc.array(key, { minLength: 1, maxLength: 4 }),
        texts,
        fc.boolean(),
        fc.option(fc.array(texts, { maxLength: 2 }), { nil: undefined }),
        (more, url, isBatch, warned) => {
          const keys = more.map((one, i) => ({ key_id: keyIdOf(i), ...one }));
          const [first] = keys;
          const whole = isBatch ? { success: true, count: 1, keys } : { success: true, ...first };
          const count = isBatch ? keys.length : 1;
          const receipts = Array.from({ length: count }, (_, i) => ({
            receipt: i % 2 === 0 ? null : { ...RECEIPT, proof: url },
            receipt_url: `${url}${i}`,
          }));
          const warnings = warned?.map((detail) => ({
            code: 'unknown_field' as const,
            pointer: '#',
            detail,
          }));
          const text = JSON.stringify(whole);
          const joined = keys.slice(0, count).map((one, i) => ({ ...one, ...receipts[i] }));
          const expected = isBatch
            ? { success: true, count: 1, keys: joined }
            : { success: true, ...joined[0] };
          assert.deepEqual(
            JSON.parse(joinedText(text, isBatch, receipts, warnings)),
            JSON.parse(JSON.stringify({ ...expected, ...(warnings && { warnings }) })),
          );
          assert.equal(joinedText(text, isBatch, [], undefined), text);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('the example of a sealed key in docs/examples', () => {
  it('opens with the private key beside it, and its receipt shows its recipient', async () => {
    const read = (name: string) =>
      readFileSync(new URL(`../../../docs/examples/sealed/${name}`, import.meta.url), 'utf8');
    const opened = await openSealedKey(SEALED_KEY, read('demo.recipient-key'), {
      policy: read('policy.txt'),
    });
    assert.deepEqual(opened.verdict?.problems, []);
    assert.equal(opened.header.key_id, SEALED_KEY.key_id);
    assert.deepEqual(opened.recipients, [opened.header.thumbprint]);
    assert.equal(opened.key.length, 32);
  });
});

describe('seal_to', () => {
  const key = SEAL_TO.public_key ?? '';
  it('is a public key with its suite, or the name of a recipient', async () => {
    await post('generateSealed', { seal_to: { recipient: 'a', suite: null, public_key: null } });
    assert.deepEqual(asked.sealTo, [{ recipient: 'a' }]);
    for (const seal_to of [SEAL_TO, { public_key: key }, { public_key: key, recipient: null }]) {
      await post('generateSealed', { seal_to });
      const [{ suite, publicKey }] = asked.sealTo as unknown as [Recipient];
      assert.equal(asked.sealTo?.length, 1);
      assert.equal(suite, 'MLKEM768-X25519');
      assert.equal(Buffer.from(publicKey).toString('base64url'), key);
    }
  });

  it('is refused by one sentence that names the member and quotes no key', async () => {
    const zero = Buffer.alloc(1_216).toString('base64url');
    const strange = 'A'.repeat(2_091);
    const cases: [unknown, string][] = [
      [undefined, '"seal_to" is required.'],
      [null, '"seal_to" must be an object; got null.'],
      ['build-server', '"seal_to" must be an object; got a string of 12 characters.'],
      [{}, '"seal_to" must have "public_key" or "recipient".'],
      [
        { public_key: key, recipient: 'a' },
        '"seal_to" must have "public_key" or "recipient", and has both.',
      ],
      [
        { recipient: 'a', suite: 'ML-KEM-1024' },
        '"seal_to.suite" belongs to "public_key": a registered recipient has its own.',
      ],
      [
        { recipient: 'a'.repeat(65) },
        '"seal_to.recipient" must have at most 64 characters; got a string of 65 characters.',
      ],
      [
        { public_key: key, suite: 'RSA' },
        '"seal_to.suite" must be one of MLKEM768-X25519, ML-KEM-1024; got the string "RSA".',
      ],
      [
        { public_key: `${key}=` },
        '"seal_to.public_key" must be base64url without padding (RFC 4648 §5); got 1623 characters.',
      ],
      [
        { public_key: 'A'.repeat(4_097) },
        '"seal_to.public_key" must have at most 4096 characters; got a string of 4097 characters.',
      ],
      [
        { public_key: key.slice(0, 40) },
        '"seal_to.public_key" cannot be used. A public key of MLKEM768-X25519 has 1216 bytes, and this one has 30.',
      ],
      [
        { public_key: strange },
        '"seal_to.public_key" cannot be used. A public key of MLKEM768-X25519 has 1216 bytes, and this one has 1568. It has the length of ML-KEM-1024: send "suite": "ML-KEM-1024".',
      ],
      [
        { public_key: zero },
        '"seal_to.public_key" cannot be used. The ML-KEM part of this public key is not random: anyone could open what is sealed to it.',
      ],
      [
        { public_key: 'A'.repeat(86) },
        '"seal_to.public_key" cannot be used. A public key of MLKEM768-X25519 has 1216 bytes, and this one has 64. It has the length of a private key. A private key must not leave its owner: if it is one, make a new pair.',
      ],
      [
        { public_key: key, private_key: 'A' },
        '"seal_to.private_key" must not leave its owner: make a new pair, and send suite and public_key alone.',
      ],
      [
        { type: 'phm-recipient-key/v1', public_key: key },
        '"seal_to.type" must be one of phm-recipient/v1; got the string "phm-recipient-key/v1". That file holds the private key, which must not leave its owner: make a new pair, and send the file ".recipient".',
      ],
    ];
    for (const [seal_to, detail] of cases) {
      for (const operation of ['generateSealed', 'generateSealedBatch'] as const) {
        const given = await refusal(operation, { seal_to });
        assert.deepEqual([given.status, given.code], [400, 'invalid_request']);
        assert.equal(given.detail, detail);
        assert.match(given.body.errors[0].pointer, /^#\/seal_to/);
      }
    }
    assert.equal(calls, 0);
  });

  it('is a list of up to eight, each as if it were alone', async () => {
    const named = Array.from({ length: 7 }, (_, i) => ({ recipient: `r${i}` }));
    await post('generateSealed', { seal_to: [...named, SEAL_TO] });
    assert.equal(asked.sealTo?.length, 8);
    assert.deepEqual(asked.sealTo?.slice(0, 7), named);
    const { body } = await post('generateSealed', { seal_to: named.slice(0, 2) });
    assert.equal(body.sealed_keys.length, 2);
    assert.ok(!('sealed_key' in body));
    const batch = await post('generateSealedBatch', { seal_to: named.slice(0, 3), count: 2 });
    assert.deepEqual(
      batch.body.keys.map((key: { sealed_keys: object[] }) => key.sealed_keys.length),
      [3, 3],
    );
  });

  it('as a list of one is the same request as that one', async () => {
    const hashes = [];
    for (const seal_to of [SEAL_TO, [SEAL_TO], [SEAL_TO, { recipient: 'a' }]]) {
      const sent = await post(
        'generateSealed',
        { seal_to },
        { headers: { 'idempotency-key': 'a' } },
      );
      hashes.push(Buffer.from(asked.idempotency?.requestHash ?? []).toString('hex'));
      assert.equal('sealed_key' in sent.body, hashes.length < 3);
    }
    assert.equal(hashes[1], hashes[0]);
    assert.equal(new Set(hashes).size, 2);
  });

  it('as a list is refused by one sentence that names the place', async () => {
    const one = { recipient: 'a' };
    const cases: [unknown, string, string][] = [
      [[], '#/seal_to', '"seal_to" must have at least 1 item; got 0.'],
      [Array(9).fill(one), '#/seal_to', '"seal_to" must have at most 8 items; got 9.'],
      [[one, null], '#/seal_to/1', '"seal_to[1]" must be an object; got null.'],
      [[one, [one]], '#/seal_to/1', '"seal_to[1]" must be an object; got an array.'],
      [[one, 'b'], '#/seal_to/1', '"seal_to[1]" must be an object; got a string of 1 character.'],
      [[one, {}], '#/seal_to/1', '"seal_to[1]" must have "public_key" or "recipient".'],
      [
        [one, { public_key: key, suite: 'RSA' }],
        '#/seal_to/1/suite',
        '"seal_to[1].suite" must be one of MLKEM768-X25519, ML-KEM-1024; got the string "RSA".',
      ],
      [
        [{ public_key: key.slice(0, 40) }, one],
        '#/seal_to/0/public_key',
        '"seal_to[0].public_key" cannot be used. A public key of MLKEM768-X25519 has 1216 bytes, and this one has 30.',
      ],
      [
        [one, { public_key: key, private_key: 'A' }],
        '#/seal_to/1/private_key',
        '"seal_to[1].private_key" must not leave its owner: make a new pair, and send suite and public_key alone.',
      ],
    ];
    for (const [seal_to, pointer, detail] of cases) {
      const given = await refusal('generateSealed', { seal_to });
      assert.deepEqual([given.status, given.code], [400, 'invalid_request']);
      assert.equal(given.detail, detail);
      assert.deepEqual(
        given.body.errors.map((error: { pointer: string }) => error.pointer),
        [pointer],
      );
    }
    assert.equal(calls, 0);
  });

  it('names each unknown field of a list, and the place of each outcome', async () => {
    const seal_to = [{ recipient: 'a' }, { recipient: 'b', pubic_key: null, x: 1 }];
    const { body } = await post('generateSealed', { seal_to });
    assert.deepEqual(
      body.warnings.map(({ pointer, detail }: Record<string, string>) => [pointer, detail]),
      [
        [
          '#/seal_to/1/pubic_key',
          '"seal_to[1].pubic_key" is not a known field and was ignored; did you mean "public_key"?',
        ],
        ['#/seal_to/1/x', '"seal_to[1].x" is not a known field and was ignored.'],
      ],
    );
    for (const [outcome, pointer, detail] of [
      [
        { kind: 'unknown_recipient', index: 1 },
        '#/seal_to/1/recipient',
        /^"seal_to\[1\]\.recipient" is not the name of a recipient/,
      ],
      [
        { kind: 'invalid_public_key', index: 1, problem: 'It is broken.' },
        '#/seal_to/1/recipient',
        /^"seal_to\[1\]\.recipient" names a public key that cannot be used\. It is broken\.$/,
      ],
      [
        { kind: 'same_recipient', first: 0, second: 1 },
        '#/seal_to/1',
        /^"seal_to\[1\]" is the same recipient as "seal_to\[0\]": both name one public key\.$/,
      ],
    ] as const) {
      instead = outcome;
      const given = await refusal('generateSealed', { seal_to });
      instead = undefined;
      assert.deepEqual([given.status, given.body.errors[0].pointer], [400, pointer]);
      assert.match(given.detail, detail);
    }
  });

  it('has room for the eight longest public keys with the largest labels', async () => {
    const longest = Buffer.alloc(1_568, 1).toString('base64url');
    const seal_to = Array(8).fill({ suite: 'ML-KEM-1024', public_key: longest });
    const labels = Object.fromEntries(
      Array.from({ length: 16 }, (_, i) => [`${i}`.padEnd(63, 'a'), 'é'.repeat(256)]),
    );
    const { status, body } = await post('generateSealed', { seal_to, labels });
    // It was read: the public key is refused.
    assert.equal(status, 400, body.code);
    assert.notEqual(body.code, 'payload_too_large');
    assert.match(JSON.stringify(body.errors), /seal_to\/0\/public_key|labels/);
  });

  it('is accepted or refused, whatever it holds', async () => {
    const text = fc.oneof(fc.constant(key), fc.string({ maxLength: 30 }), fc.constant(null));
    const member = fc.oneof(text, fc.jsonValue({ maxDepth: 1 }));
    const names = { type: member, suite: member, public_key: member, recipient: member };
    const object = fc.record(names, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(fc.oneof(object, fc.array(object, { maxLength: 9 })), async (seal_to) => {
        const { status, body } = await post('generateSealed', { seal_to });
        assert.ok(status === 200 || body.code === 'invalid_request', body.code);
      }),
      { numRuns: 60 },
    );
  });
});

describe('include on a sealed endpoint', () => {
  it('refuses hash_proof and says where the proof is', async () => {
    const { detail } = await refusal('generateSealed', { include: ['receipt', 'hash_proof'] });
    assert.equal(
      detail,
      '"include[1]" must be one of nist_report, receipt; got the string "hash_proof". The proof of a sealed key is inside "sealed_key".',
    );
  });
});

describe('count', () => {
  it('is a whole number from 1 to 1000, and to 100 with a receipt or a report', async () => {
    const cases: [object, string][] = [
      [{ count: undefined }, '"count" is required.'],
      [{ count: 0 }, '"count" must be at least 1; got 0.'],
      [{ count: 1_001 }, '"count" must be at most 1000; got 1001.'],
      [{ count: 1.5 }, '"count" must be a whole number; got 1.5.'],
      [{ count: '10' }, '"count" must be a whole number; got a string of 2 characters.'],
      [{ count: null }, '"count" must be a whole number; got null.'],
      [
        { count: 101, include: ['receipt'] },
        '"count" must be at most 100 with nist_report or receipt in "include"; got 101.',
      ],
      [
        { count: 101, include: ['nist_report'], enable_nist_validation: true },
        '"count" must be at most 100 with nist_report or receipt in "include"; got 101.',
      ],
    ];
    for (const [more, detail] of cases) {
      for (const operation of ['generateBatch', 'generateSealedBatch'] as const) {
        assert.equal((await refusal(operation, more)).detail, detail);
      }
    }
    assert.equal(calls, 0);
    for (const count of [1, 1_000]) {
      assert.equal((await post('generateSealedBatch', { count })).body.keys.length, count);
    }
    assert.equal((await post('generateBatch', { count: 100, include: ['receipt'] })).status, 200);
  });
});

describe('the rate limit of a batch', () => {
  it('is as many requests as keys, but at most the burst, all or none', async (t) => {
    stopMonotonic(t);
    const on = await buildTestApp({ service: serviceOf() });
    const first = await post('generateBatch', { count: 15 }, { on });
    assert.equal(first.status, 200);
    assert.match(String(first.headers.ratelimit), /^"rate";r=5;t=2/);
    assert.equal(first.headers['x-ratelimit-remaining'], '5');
    const refused = await refusal('generateSealedBatch', { count: 900 }, { on });
    assert.deepEqual([refused.status, refused.code], [429, 'rate_limited']);
    assert.equal(
      refused.detail,
      'A batch of 900 keys takes 20 of the 20 requests that this API key may send at once. Send requests at a lower rate, and try again in 2 seconds.',
    );
    assert.equal(refused.headers['retry-after'], '2');
    assert.match(String(refused.headers.ratelimit), /^"rate";r=5;/);
    assert.equal((await post('generate', {}, { on })).status, 200);
    assert.equal(calls, 2);
    await on.close();
  });
});
