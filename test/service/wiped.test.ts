/** No key outlives its use on the main thread: it is wiped after the answer and after a refusal. */

import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { newApiKey } from '../../src/accounts/index.ts';
import { AppError } from '../../src/errors.ts';
import type { GenerateOutcome, KeyRequest } from '../../src/keys/index.ts';
import { Latch } from '../../src/keys/latch.ts';
import type { KeyOrder } from '../../src/keys/order.ts';
import type { Principal } from '../../src/ledger/index.ts';
import type { KeyService } from '../../src/service/index.ts';
import { KeyQueue } from '../../src/service/requests/queue.ts';
import { SuiteWork } from '../../src/service/suite/work.ts';
import type { KeyTask, PackedBatch } from '../../src/service/threads/messages.ts';
import { unpackKeys } from '../../src/service/threads/packed-keys.ts';
import { buildTestApp, standInService } from '../support/servers/app.ts';
import { keyRequest, PRESENT, plainKey, STAGED, withDigest } from '../support/servers/fakes.ts';
import { startKeyService } from '../support/servers/key-service.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

const HASH = Buffer.alloc(32, 5);

/** Requests whose keys come from suite workers. */
const SUITE_REQUESTS: Readonly<Record<string, KeyRequest>> = {
  'a validated key': keyRequest({ withEvidence: true }),
  'a retry of a validated key': keyRequest(
    { withEvidence: true },
    { idempotency: { key: 'retry', requestHash: HASH } },
  ),
  'a batch': keyRequest({ receipt: true }, { count: 3, isBatch: true }),
};
const USAGE = { month: 0, used: 1, quota: null };
const KEY_TEXT = '1b'.repeat(32);

/** Collects the keys and openings that suite workers send to the main thread. */
function spyOnSuiteKeys(t: TestContext): Uint8Array[] {
  const secrets: Uint8Array[] = [];
  const { add } = SuiteWork.prototype;
  t.mock.method(
    SuiteWork.prototype,
    'add',
    function (this: SuiteWork, ...given: Parameters<typeof add>) {
      const [, , { result }] = given;
      const keys = result.kind === 'made' ? unpackKeys(result.keys) : [];
      for (const { key, opening } of keys) secrets.push(key, ...(opening ? [opening] : []));
      add.apply(this, given);
    },
  );
  return secrets;
}

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
  const stored = { requestHash: HASH, keyIds: [Buffer.alloc(16, 1)], createdMs: 5, body: null };
  for (const [what, answer] of [
    ['a quota used up meanwhile', async () => ({ kind: 'quota_exceeded', usage: USAGE })],
    ['a failing ledger', async () => ({ kind: 'failed', failure })],
    ['a full queue', () => Promise.reject(new AppError('overloaded'))],
    ['an unexpected answer', async () => ({ kind: 'probed' })],
    [
      'another request that was faster',
      async () => ({ kind: 'replayed', answer: stored, usage: USAGE }),
    ],
  ] as const) {
    for (const [kind, request] of Object.entries(SUITE_REQUESTS)) {
      it(`are wiped if ${kind} meets ${what}`, async (t) => {
        const secrets = spyOnSuiteKeys(t);
        t.mock.method(KeyQueue.prototype, 'submit', async (task: KeyTask) =>
          task.kind === 'recall' ? { kind: 'recalled', answer: null, recipients: [] } : answer(),
        );
        t.mock.method(KeyQueue.prototype, 'recordFailure', () => {});
        const [settled] = await Promise.allSettled([service.generate(principal, request, PRESENT)]);
        const kinds: unknown[] = ['quota_exceeded', 'key_already_made'];
        assert.ok(settled.status === 'rejected' || kinds.includes(settled.value.kind));
        assert.ok(secrets.length >= request.count);
        assert.ok(secrets.every(isWiped));
      });
    }
  }

  for (const [kind, request] of Object.entries({
    'a plain key': keyRequest(),
    ...SUITE_REQUESTS,
  })) {
    it(`are wiped if the process latches between commit and answer (${kind})`, async (t) => {
      const since = { accountId: principal.accountId, sinceMs: 0 };
      const before = await service.activity(since);
      const secrets = spyOnSuiteKeys(t);
      const { submit } = KeyQueue.prototype;
      t.mock.method(KeyQueue.prototype, 'submit', async function (this: KeyQueue, task: KeyTask) {
        const result = await submit.call(this, task);
        if (result.kind === 'generated') secrets.push(...result.keys.map(({ key }) => key));
        // The rows are durable now, and the answer is not written yet.
        if (task.kind !== 'recall') t.mock.method(Latch.prototype, 'read', () => STAGED);
        return result;
      });
      await assert.rejects(service.generate(principal, request, PRESENT), {
        code: 'entropy_unavailable',
      });
      assert.ok(secrets.length >= request.count && secrets.every(isWiped));
      const { keys: rows, metered, failures } = await service.activity(since);
      assert.deepEqual(
        [rows - before.keys, metered - before.metered, failures - before.failures],
        [request.count, request.count, 0],
        'the rows stand and count as requests',
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
      .flatMap(({ arguments: [message] }) => (message as PackedBatch).others ?? [])
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
    // Without a receipt the answer has no opening.
    const outcomeOf = (order: KeyOrder) => {
      const { answerDigest } = withDigest({ ...plainKey({ key }) }, order);
      const keys = [plainKey({ key, opening, answerDigest })];
      return { kind: 'generated', createdMs: 0, keys, usage: USAGE } as unknown as GenerateOutcome;
    };
    const app = await buildTestApp({
      service: standInService('research', {
        generate: async (_, { order }) => outcomeOf(order),
      }),
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
