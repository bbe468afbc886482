/** No key outlives its use on the main thread: it is wiped after the answer and after a refusal. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { newApiKey } from '../../src/accounts/index.ts';
import { AppError } from '../../src/errors.ts';
import type { GenerateOutcome } from '../../src/keys/index.ts';
import { Latch } from '../../src/keys/latch.ts';
import type { Principal } from '../../src/ledger/index.ts';
import type { KeyService } from '../../src/service/index.ts';
import type { KeyBatch, KeyTask } from '../../src/service/messages.ts';
import { KeyQueue } from '../../src/service/queue.ts';
import { SuitePool } from '../../src/service/suite-pool.ts';
import { buildTestApp, standInService } from '../support/app.ts';
import { keyRequest, PRESENT, STAGED } from '../support/fakes.ts';
import { startKeyService } from '../support/key-service.ts';
import { makeDataDir, removeDataDir } from '../support/server.ts';

const REQUEST = keyRequest({ withEvidence: true });
const USAGE = { month: 0, used: 1, quota: null };
const KEY_TEXT = '1b'.repeat(32);

const isWiped = (key: Uint8Array) => key.every((byte) => byte === 0);

describe('keys in the service', () => {
  const dataDir = makeDataDir();
  let service: KeyService;
  let principal: Principal;

  before(async () => {
    ({ service, principal } = await startKeyService(dataDir));
  });
  after(async () => {
    await service.close();
    removeDataDir(dataDir);
  });

  const failure = { code: 'ledger_unavailable', reason: 'staged' };
  for (const [what, answer] of [
    ['a quota used up meanwhile', async () => ({ kind: 'quota_exceeded', usage: USAGE })],
    ['a failing ledger', async () => ({ kind: 'failed', failure })],
    ['a full queue', () => Promise.reject(new AppError('overloaded'))],
    ['an unexpected answer', async () => ({ kind: 'probed' })],
  ] as const) {
    it(`are wiped if a key with evidence meets ${what}`, async (t) => {
      const [key, opening] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
      const reply = {
        counts: { streams: 1, streamsPassed: 1 },
        result: {
          kind: 'generated',
          generated: { keyId: Buffer.alloc(16, 1), key, opening, report: null },
        },
      };
      t.mock.method(SuitePool.prototype, 'submit', async () => reply);
      t.mock.method(KeyQueue.prototype, 'submit', answer);
      t.mock.method(KeyQueue.prototype, 'recordFailure', () => {});
      const [settled] = await Promise.allSettled([service.generate(principal, REQUEST, PRESENT)]);
      assert.ok(settled.status === 'rejected' || settled.value.kind === 'quota_exceeded');
      assert.ok(isWiped(key) && isWiped(opening));
    });
  }

  for (const withEvidence of [false, true]) {
    it(`are wiped if the process latches between commit and answer (with evidence: ${withEvidence})`, async (t) => {
      const since = { accountId: principal.accountId, sinceMs: 0 };
      const before = await service.activity(since);
      const keys: Uint8Array[] = [];
      const { submit } = KeyQueue.prototype;
      const { submit: submitJob } = SuitePool.prototype;
      t.mock.method(KeyQueue.prototype, 'submit', async function (this: KeyQueue, task: KeyTask) {
        const result = await submit.call(this, task);
        if (result.kind === 'generated') keys.push(...result.keys.map(({ key }) => key));
        // The row is durable now, and the answer is not written yet.
        t.mock.method(Latch.prototype, 'read', () => STAGED);
        return result;
      });
      t.mock.method(
        SuitePool.prototype,
        'submit',
        async function (this: SuitePool, ...given: Parameters<SuitePool['submit']>) {
          const reply = await submitJob.apply(this, given);
          if (reply.result.kind === 'generated') keys.push(reply.result.generated.key);
          return reply;
        },
      );
      await assert.rejects(service.generate(principal, keyRequest({ withEvidence }), PRESENT), {
        code: 'entropy_unavailable',
      });
      assert.deepEqual([keys.length, keys.every(isWiped)], [1, true]);
      const { keys: rows, metered, failures } = await service.activity(since);
      assert.deepEqual(
        [rows - before.keys, metered - before.metered, failures - before.failures],
        [1, 1, 0],
        'the row stands and counts as one request',
      );
    });
  }

  it('are wiped if their validation is refused before it leaves the main thread', async (t) => {
    const keys: Uint8Array[] = [];
    t.mock.method(KeyQueue.prototype, 'submit', async (task: KeyTask) => {
      if (task.kind === 'validate' && task.key) keys.push(task.key);
      throw new AppError('overloaded');
    });
    await assert.rejects(service.validate(principal, KEY_TEXT, undefined), { code: 'overloaded' });
    assert.deepEqual(
      keys.map(({ length }) => length),
      [32],
    );
    assert.ok(keys.every(isWiped));
  });

  it('leave no copy on the main thread when sent for validation', async (t) => {
    const sent = t.mock.method(Worker.prototype, 'postMessage');
    await service.validate(principal, KEY_TEXT, undefined);
    const keys = sent.mock.calls
      .flatMap(({ arguments: [message] }) => (message as KeyBatch).tasks ?? [])
      .flatMap((task) => (task.kind === 'validate' && task.key ? [task.key] : []));
    assert.deepEqual(
      keys.map(({ length }) => length),
      [0],
    );
  });
});

describe('an answered key', () => {
  it('is wiped after it is encoded as text', async () => {
    const [key, opening] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
    const outcome = {
      kind: 'generated',
      createdMs: 0,
      keys: [
        {
          keyId: 'phm_1',
          key,
          opening,
          evidence: null,
          report: null,
          entropyBits: 256,
          entropyJobId: null,
        },
      ],
      usage: USAGE,
    } as unknown as GenerateOutcome;
    const app = await buildTestApp({
      service: standInService('research', { generate: async () => outcome }),
    });
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url: '/api/v2/generate',
      headers: { 'x-api-key': newApiKey('live') },
      payload: { security_level: 256 },
    });
    await app.close();
    assert.deepEqual([statusCode, JSON.parse(body).key], [200, '07'.repeat(32)], body);
    assert.ok(isWiped(key) && isWiped(opening));
  });
});
