/** Requests for keys through the whole service, on SQLite: batches, sealed keys and retries. */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { newRecipient, open, parseSealedKey, type RecipientKey } from '#sealing';
import { AppError } from '../../../src/errors.ts';
import type { GenerateOutcome, KeyRequest, SealedResponseKey } from '../../../src/keys/index.ts';
import { wipeKey } from '../../../src/keys/index.ts';
import { Latch } from '../../../src/keys/latch.ts';
import { BOX_LIMITS, type LedgerStore, type Principal } from '../../../src/ledger/index.ts';
import type { KeyObserver, KeyService } from '../../../src/service/index.ts';
import type { LedgerWatch } from '../../../src/service/ledger/watch.ts';
import type { Halt } from '../../../src/service/log/stopped.ts';
import { KeyRequests } from '../../../src/service/requests/key-requests.ts';
import type { MeteredRequests } from '../../../src/service/requests/metered-requests.ts';
import { KeyQueue } from '../../../src/service/requests/queue.ts';
import { Releases } from '../../../src/service/requests/releases.ts';
import { SuitePool } from '../../../src/service/suite/pool.ts';
import type { KeyTask } from '../../../src/service/threads/messages.ts';
import { keyRequest, PRESENT, plainKey } from '../../support/servers/fakes.ts';
import { startKeyService } from '../../support/servers/key-service.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const HASH = Buffer.alloc(32, 1);
const OTHER_HASH = Buffer.alloc(32, 2);

let nextKey = 0;
const idempotency = (key = `key ${nextKey++}`, requestHash = HASH) => ({ key, requestHash });

const render = (keys: readonly SealedResponseKey[], createdMs: number): string =>
  JSON.stringify({ createdMs, keys: keys.map(({ keyId, sealedKeys }) => ({ keyId, sealedKeys })) });

const isCode = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code;

/** Counts what the service reports. */
class Counts {
  readonly told: Record<string, number> = {};

  readonly observer = new Proxy({} as KeyObserver, {
    get: (_, name: string) => (first?: unknown) => {
      this.told[name] = (this.told[name] ?? 0) + (name === 'batch' ? Number(first) : 1);
    },
  });

  /** Returns the counts of keys since the last call. */
  take(): (number | undefined)[] {
    const names = ['keyGenerated', 'keySealed', 'batch', 'replayed', 'committed'];
    const counts = names.map((name) => this.told[name] ?? 0);
    for (const name of names) delete this.told[name];
    return counts;
  }
}

describe('keys with a defect found after their rows were durable', () => {
  const usage = { month: 1, used: 1, quota: null };
  const requester = { accountId: 'a', apiKeyId: 'k', atMs: 0 };

  /** Requests whose key worker records every key, with what it released. */
  function makeRequests(failures = 0) {
    const keys: Uint8Array[] = [];
    const evidence = { failures };
    const log = { halt: null as Halt | null };
    const latch = Latch.forThreads(1);
    const submit = async ({ kind }: KeyTask) => {
      if (kind !== 'generate') return { kind: 'recorded', usage };
      const released = plainKey({ key: Buffer.alloc(32, 1) });
      keys.push(released.key);
      return { kind: 'generated', createdMs: 0, keys: [released], usage, failures: 0 };
    };
    const queue = { recordFailure: () => {} } as unknown as KeyQueue;
    const halt = () => log.halt;
    const releases = new Releases({ latch, halt, queue });
    const requests = new KeyRequests({
      evidence,
      queue,
      pool: new SuitePool(latch, { onEvidenceWarning: () => {}, onUnvouchedKeys: () => {} }),
      ledger: { status: () => ({ retired: [] }) } as unknown as LedgerWatch,
      halt,
      metered: {
        submit,
        requester: () => requester,
        exhausted: () => undefined,
      } as unknown as MeteredRequests,
      releases,
      observer: undefined,
      boxLimits: BOX_LIMITS,
      onDelivered: () => {},
    });
    const generate = (changes: Partial<KeyRequest> = {}) =>
      requests.generate({} as Principal, keyRequest({}, changes), {
        ...PRESENT,
        abandoned: () => false,
      });
    return { releases, generate, keys, evidence, latch, log };
  }
  const isWiped = (key: Uint8Array | undefined) => key?.every((byte) => byte === 0);

  it('are wiped if this thread saw the failure before the key worker', async () => {
    const { generate, keys } = makeRequests(1);
    await assert.rejects(generate(), isCode('entropy_unavailable'));
    assert.ok(isWiped(keys[0]));
  });

  it('are not made while the log lets no key leave', async () => {
    const { generate, keys, log } = makeRequests();
    log.halt = 'altered';
    await assert.rejects(generate(), isCode('ledger_unavailable'));
    await assert.rejects(generate({ count: 2, isBatch: true }), isCode('ledger_unavailable'));
    assert.equal(keys.length, 0);
  });

  it('latch the process if the text of an answer is not of its keys', async () => {
    const { releases, generate, keys, latch } = makeRequests();
    const outcome = await generate();
    assert.equal(releases.refuseAnswer().code, 'entropy_unavailable');
    const { cause, test } = latch.read() ?? {};
    assert.deepEqual([cause, test], ['altered_key', 'answer']);
    assert.ok(outcome.kind === 'generated');
    const refused = releases.refuseUnsound(outcome);
    assert.ok(refused);
    await assert.rejects(refused, isCode('entropy_unavailable'));
    assert.ok(isWiped(keys[0]));
  });

  it('are wiped if a sample fails, the process latches or the log halts, while they wait for a receipt', async () => {
    for (const find of ['failure', 'latch', 'forked', 'altered'] as const) {
      const { releases, generate, keys, evidence, latch, log } = makeRequests();
      const outcome = await generate();
      assert.ok(outcome.kind === 'generated');
      assert.equal(releases.refuseUnsound(outcome), undefined);
      assert.ok(!isWiped(keys[0]), 'the key is released without a defect');
      if (find === 'failure') evidence.failures += 1;
      else if (find === 'latch') latch.set({ cause: 'gate', test: 'runs', detail: 'staged' });
      else log.halt = find;
      const code = log.halt === null ? 'entropy_unavailable' : 'ledger_unavailable';
      const refused = releases.refuseUnsound(outcome);
      assert.ok(isWiped(keys[0]), find);
      assert.ok(refused, find);
      await assert.rejects(refused, isCode(code), find);
    }
  });
});

describe('requests for keys', () => {
  const dataDir = makeDataDir();
  const counts = new Counts();
  let service: KeyService;
  let principal: Principal;
  let recipientKey: RecipientKey;

  before(async () => {
    recipientKey = await newRecipient();
    ({ service, principal } = await startKeyService(dataDir, {
      suiteWorkers: 2,
      observer: counts.observer,
      prepare: async (store) => {
        const { suite, publicKey } = recipientKey;
        await store.setPlan('acct_test', 'professional');
        await addSmallAccount(store);
        await store.addRecipient({
          accountId: 'acct_test',
          name: 'station',
          suite,
          publicKey,
          createdMs: 0,
        });
      },
    }));
    principal = { ...principal, plan: 'professional', usage: { ...principal.usage, quota: null } };
  });
  after(async () => {
    await service.close();
    removeDataDir(dataDir);
  });

  const generate = (changes: Partial<KeyRequest>, ordered = {}): Promise<GenerateOutcome> =>
    service.generate(principal, keyRequest(ordered, changes), { ...PRESENT, render });
  const one = () => ({ suite: recipientKey.suite, publicKey: recipientKey.publicKey });
  const sealTo = () => [one()];
  let second: RecipientKey;
  const other = () => ({ suite: second.suite, publicKey: second.publicKey });
  before(async () => {
    second = await newRecipient('ML-KEM-1024');
  });
  const recordedKeys = async () =>
    (await service.activity({ accountId: principal.accountId, sinceMs: 0 })).keys;

  it('record a batch as one request of one transaction', async () => {
    counts.take();
    const before = await recordedKeys();
    const outcome = await generate({ count: 1_000, isBatch: true });
    assert.ok(outcome.kind === 'generated');
    const texts = new Set(outcome.keys.map(({ key }) => Buffer.from(key).toString('hex')));
    assert.deepEqual([outcome.keys.length, texts.size], [1_000, 1_000]);
    assert.deepEqual(counts.take(), [1_000, 0, 1_000, 0, 1]);
    assert.equal((await recordedKeys()) - before, 1_000);
    for (const key of outcome.keys) wipeKey(key);
  });

  it('validate every key of a batch', async () => {
    const outcome = await generate(
      { count: 5, isBatch: true },
      { withEvidence: true, report: true },
    );
    assert.ok(outcome.kind === 'generated');
    assert.ok(outcome.keys.every(({ evidence, report }) => evidence && report));
  });

  it('that wait together go to a worker in one message, and each key to its own recipient', async (t) => {
    const posted = t.mock.method(Worker.prototype, 'postMessage');
    const orders = Array.from({ length: 40 }, (_, i) => ({
      recipient: i % 2 === 0 ? recipientKey : second,
      to: i % 2 === 0 ? one() : other(),
      securityLevel: ([128, 256, 384] as const)[i % 3],
    }));
    const outcomes = await Promise.all(
      orders.map(({ to, securityLevel }) => generate({ sealTo: [to] }, { securityLevel })),
    );
    const messages = posted.mock.calls.map(({ arguments: [message] }) => message);
    const jobs = messages.map((message) => (message.jobs ?? []).length);
    assert.ok(Math.max(...jobs) > 1, `${jobs}`);

    for (const [i, outcome] of outcomes.entries()) {
      assert.ok(outcome.kind === 'sealed');
      const { keyId, sealedKeys } = JSON.parse(outcome.body).keys[0];
      const sealedKey = parseSealedKey(sealedKeys[0]);
      const opened = await open({ sealedKey, recipientKey: orders[i]?.recipient as RecipientKey });
      assert.deepEqual([opened.header.key_id, outcome.keyIds], [keyId, [keyId]]);
      assert.equal(8 * opened.key.length, orders[i]?.securityLevel);
      const hex = Buffer.from(opened.key).toString('hex');
      const { verdict } = await validated(hex, opened.hashProof);
      assert.ok(verdict.valid);
    }
    assert.equal(
      new Set(outcomes.flatMap((one) => (one.kind === 'sealed' ? one.keyIds : []))).size,
      40,
    );
  });

  it('seal keys to a public key or a registered recipient', async () => {
    for (const to of [sealTo(), [{ recipient: 'station' }]]) {
      counts.take();
      const outcome = await generate({ sealTo: to, count: 3, isBatch: true });
      assert.ok(outcome.kind === 'sealed' && !outcome.replayed);
      assert.deepEqual(counts.take(), [3, 3, 3, 0, 1]);
      const { createdMs, keys } = JSON.parse(outcome.body);
      assert.equal(createdMs, outcome.createdMs);
      assert.deepEqual(
        keys.map(({ keyId }: SealedResponseKey) => keyId),
        outcome.keyIds,
      );
      for (const { keyId, sealedKeys } of keys) {
        assert.equal(sealedKeys.length, 1);
        const opened = await open({ sealedKey: parseSealedKey(sealedKeys[0]), recipientKey });
        assert.equal(opened.header.key_id, keyId);
        const hex = Buffer.from(opened.key).toString('hex');
        const { verdict } = await validated(hex, opened.hashProof);
        assert.ok(verdict.valid, 'the service knows the key');
      }
    }
  });

  async function validated(key: string, proof: string) {
    const outcome = await service.validate(principal, key, proof);
    assert.ok(outcome.kind === 'validated');
    return outcome;
  }

  it('name an unknown recipient and a public key that is refused', async () => {
    const refused = { ...one(), publicKey: new Uint8Array(7) };
    for (const [before, index] of [
      [[], 0],
      [[{ recipient: 'station' }], 1],
    ] as const) {
      assert.deepEqual(await generate({ sealTo: [...before, { recipient: 'ghost' }] }), {
        kind: 'unknown_recipient',
        index,
      });
      const outcome = await generate({ sealTo: [...before, refused] });
      assert.ok(outcome.kind === 'invalid_public_key' && outcome.index === index);
      assert.match(outcome.problem, /has 1216 bytes, and this one has 7/);
    }
  });

  it('seal one key to several recipients, as one key of one record', async () => {
    counts.take();
    const outcome = await generate({
      sealTo: [{ recipient: 'station' }, other()],
      count: 2,
      isBatch: true,
    });
    assert.ok(outcome.kind === 'sealed');
    // Keys, sealed keys, of a batch, replays, batches.
    assert.deepEqual(counts.take(), [2, 4, 2, 0, 1]);
    for (const { keyId, sealedKeys } of JSON.parse(outcome.body).keys) {
      assert.equal(sealedKeys.length, 2);
      const keys = new Set<string>();
      for (const [i, owner] of [recipientKey, second].entries()) {
        const sealedKey = parseSealedKey(sealedKeys[i]);
        const opened = await open({ sealedKey, recipientKey: owner });
        assert.equal(opened.header.key_id, keyId);
        keys.add(Buffer.from(opened.key).toString('hex'));
      }
      assert.equal(keys.size, 1);
    }
  });

  it('take two names of one public key, or a name and its public key, for one recipient', async () => {
    const before = await recordedKeys();
    for (const [to, first, second] of [
      [[one(), one()], 0, 1],
      [[{ recipient: 'station' }, one()], 0, 1],
      [[other(), { recipient: 'station' }, other(), one()], 0, 2],
      [[other(), one(), { recipient: 'station' }], 1, 2],
      [[{ recipient: 'station' }, { recipient: 'station' }], 0, 1],
    ] as const) {
      const outcome = await generate({ sealTo: to, idempotency: idempotency() });
      assert.deepEqual(outcome, { kind: 'same_recipient', first, second });
    }
    assert.equal(await recordedKeys(), before);
  });

  it('refuse a batch of more than 1,000 sealed keys, and say how many keys fit', async () => {
    const large = { sealTo: [one(), other()], isBatch: true };
    assert.deepEqual(await generate({ ...large, count: 501 }), {
      kind: 'batch_too_large',
      maxCount: 500,
      reason: 'recipients',
    });
  });

  it('bound the answer for eight recipients by its largest size', async () => {
    const eight = await Promise.all(Array.from({ length: 8 }, () => newRecipient('ML-KEM-1024')));
    const to = eight.map(({ suite, publicKey }) => ({ suite, publicKey }));
    const kept = { sealTo: to, isBatch: true, count: 125, idempotency: idempotency() };
    const outcome = await generate(kept);
    assert.ok(outcome.kind === 'batch_too_large' && outcome.reason === 'stored_answer');
    const fits = await generate({ ...kept, count: outcome.maxCount });
    assert.ok(fits.kind === 'sealed');
    assert.ok(Buffer.byteLength(fits.body) <= 4 * 1024 * 1024);
    assert.ok(Buffer.byteLength(fits.body) > 3 * 1024 * 1024, `${Buffer.byteLength(fits.body)}`);
  });

  it('throw for a request that no caller may make', async () => {
    for (const [changes, problem] of [
      [{ count: 0 }, /"count" expected an integer from 1 to 1, got 0/],
      [{ count: 2 }, /from 1 to 1, got 2/],
      [{ count: 1_001, isBatch: true }, /from 1 to 1000, got 1001/],
      [{ count: 1.5, isBatch: true }, /got 1.5/],
    ] as const) {
      await assert.rejects(generate(changes), problem);
    }
    const sealed = keyRequest({}, { sealTo: sealTo() });
    await assert.rejects(service.generate(principal, sealed, PRESENT), /"render" expected/);
  });

  it('replay the answer to a sealed request byte for byte, and count it once', async () => {
    const retried = { sealTo: sealTo(), idempotency: idempotency() };
    const first = await generate(retried);
    const before = await recordedKeys();
    counts.take();
    const second = await generate(retried);
    assert.ok(first.kind === 'sealed' && second.kind === 'sealed');
    const { usage, mayRelease } = second;
    const { withdraw: _, ...answer } = first;
    assert.deepEqual(second, { ...answer, usage, mayRelease, replayed: true });
    assert.equal(mayRelease(), true);
    assert.equal(second.usage.used, first.usage.used);
    assert.deepEqual(counts.take(), [0, 0, 0, 1, 0]);
    assert.equal(await recordedKeys(), before);
  });

  it('generate others for the retry of a sealed request whose keys were withheld', async () => {
    const retried = { sealTo: sealTo(), count: 2, isBatch: true, idempotency: idempotency() };
    const first = await generate(retried);
    assert.ok(first.kind === 'sealed');
    await assert.rejects(withhold(first), isCode('entropy_unavailable'));
    const second = await generate(retried);
    assert.ok(second.kind === 'sealed' && !second.replayed);
    assert.ok(second.keyIds.every((keyId) => !first.keyIds.includes(keyId)));
    const third = await generate(retried);
    assert.ok(third.kind === 'sealed' && third.replayed);
    assert.equal(third.body, second.body);
  });

  it('keep the answer to a retry that is withheld: the first request may have got it', async () => {
    const retried = { sealTo: sealTo(), idempotency: idempotency() };
    await generate(retried);
    const second = await generate(retried);
    assert.ok(second.kind === 'sealed' && second.replayed);
    await assert.rejects(withhold(second), isCode('entropy_unavailable'));
    const third = await generate(retried);
    assert.ok(third.kind === 'sealed' && third.replayed);
  });

  it('refuse the retry while the ledger refuses to remove withheld keys', async (t) => {
    const retried = { sealTo: sealTo(), idempotency: idempotency() };
    const first = await generate(retried);
    assert.ok(first.kind === 'sealed');
    const { submit } = KeyQueue.prototype;
    t.mock.method(KeyQueue.prototype, 'submit', function (this: KeyQueue, task: KeyTask) {
      if (task.kind === 'withdraw') return Promise.reject(new AppError('ledger_unavailable'));
      return submit.call(this, task);
    });
    await assert.rejects(withhold(first), isCode('ledger_unavailable'));
    await assert.rejects(generate(retried), isCode('entropy_unavailable'));
  });

  /** Withholds the keys of an outcome, as if a sample of their generator had failed. */
  async function withhold(outcome: GenerateOutcome & { kind: 'sealed' }): Promise<void> {
    await service.refuseUnsound({ ...outcome, mayRelease: () => false });
  }

  for (const [name, changes, ordered] of [
    ['a plain key', {}, {}],
    ['a validated key', {}, { withEvidence: true }],
    ['a batch', { count: 3, isBatch: true }, {}],
  ] as const) {
    it(`answer the retry of ${name} with the IDs of its keys`, async () => {
      const retried = { ...changes, idempotency: idempotency() };
      const first = await generate(retried, ordered);
      assert.ok(first.kind === 'generated');
      const second = await generate(retried, ordered);
      assert.ok(second.kind === 'key_already_made');
      assert.deepEqual(
        second.keyIds,
        first.keys.map(({ keyId }) => keyId),
      );
      assert.deepEqual([second.createdMs, second.usage], [first.createdMs, first.usage]);
    });
  }

  it('refuse an Idempotency-Key that belongs to another request', async () => {
    for (const changes of [{}, { sealTo: sealTo() }, { count: 2, isBatch: true }]) {
      const { key } = idempotency();
      await generate({ ...changes, idempotency: idempotency(key) });
      const reused = generate({ ...changes, idempotency: idempotency(key, OTHER_HASH) });
      await assert.rejects(reused, isCode('idempotency_key_reused'));
    }
  });

  it('refuse a second request with the same Idempotency-Key while the first is in progress', async () => {
    for (const changes of [{}, { sealTo: sealTo() }]) {
      const retried = { ...changes, idempotency: idempotency() };
      const first = generate(retried);
      await assert.rejects(generate(retried), isCode('idempotency_in_progress'));
      assert.notEqual((await first).kind, 'quota_exceeded');
      assert.notEqual((await generate(retried)).kind, 'generated');
    }
  });

  it('allow a retry after a failure', async (t) => {
    const retried = { count: 2, isBatch: true, idempotency: idempotency() };
    const { submit } = KeyQueue.prototype;
    const failing = t.mock.method(
      KeyQueue.prototype,
      'submit',
      function (this: KeyQueue, task: KeyTask) {
        if (task.kind === 'record') throw new AppError('ledger_unavailable');
        return submit.call(this, task);
      },
    );
    await assert.rejects(generate(retried), isCode('ledger_unavailable'));
    failing.mock.restore();
    assert.equal((await generate(retried)).kind, 'generated');
  });

  it('give the outcome of the faster server, and wipe their own keys', async (t) => {
    for (const changes of [{ sealTo: sealTo() }, { count: 2, isBatch: true }]) {
      const retried = { ...changes, idempotency: idempotency() };
      const first = await generate(retried);
      const before = await recordedKeys();
      forgetAnswers(t);
      const second = await generate(retried);
      t.mock.restoreAll();
      if (first.kind === 'sealed' && second.kind === 'sealed') {
        const { mayRelease } = second;
        const { withdraw: _, ...answer } = first;
        assert.deepEqual(second, { ...answer, mayRelease, replayed: true });
      } else {
        assert.equal(second.kind, 'key_already_made');
      }
      assert.equal(await recordedKeys(), before);
    }
  });

  /** Lets `recall` find nothing, as if the other server committed right after it. */
  function forgetAnswers(t: TestContext): void {
    const { submit } = KeyQueue.prototype;
    t.mock.method(KeyQueue.prototype, 'submit', async function (this: KeyQueue, task: KeyTask) {
      const result = await submit.call(this, task);
      return result.kind === 'recalled' ? { ...result, answer: null } : result;
    });
  }

  it('send no task but one for a plain key with an Idempotency-Key', async (t) => {
    const kinds: string[] = [];
    const { submit } = KeyQueue.prototype;
    t.mock.method(KeyQueue.prototype, 'submit', function (this: KeyQueue, task: KeyTask) {
      kinds.push(task.kind);
      return submit.call(this, task);
    });
    await generate({ idempotency: idempotency() });
    assert.deepEqual(kinds, ['generate']);
    await generate({ count: 2, isBatch: true });
    assert.deepEqual(kinds.slice(1), ['record']);
    await generate({ sealTo: [{ recipient: 'station' }], idempotency: idempotency() });
    assert.deepEqual(kinds.slice(2), ['recall', 'record']);
  });

  it('refuse a sealed batch whose answer would be too large to keep, before any key is made', async (t) => {
    const submit = t.mock.method(KeyQueue.prototype, 'submit');
    const large = { count: 500, isBatch: true, sealTo: sealTo(), idempotency: idempotency() };
    const outcome = await generate(large, { withEvidence: true, report: true });
    assert.ok(outcome.kind === 'batch_too_large' && outcome.reason === 'stored_answer');
    assert.ok(outcome.maxCount >= 100 && outcome.maxCount < 500, `${outcome.maxCount}`);
    const labels = JSON.stringify({ note: '👍'.repeat(1_000) });
    const labelled = await generate(
      { ...large, count: 1_000, idempotency: idempotency() },
      { labels },
    );
    assert.ok(labelled.kind === 'batch_too_large' && labelled.maxCount > 500);
    assert.equal(submit.mock.callCount(), 2, 'only the answers were looked up');
  });

  it('refuse a sealed batch whose answer is too large after all', async () => {
    const request = keyRequest(
      {},
      { count: 4, isBatch: true, sealTo: sealTo(), idempotency: idempotency() },
    );
    const before = await recordedKeys();
    const outcome = await service.generate(principal, request, {
      ...PRESENT,
      render: () => 'x'.repeat(6 * 1024 * 1024),
    });
    assert.deepEqual(outcome, { kind: 'batch_too_large', maxCount: 2, reason: 'stored_answer' });
    assert.equal(await recordedKeys(), before);
  });

  it('are all or nothing if the quota ends, and answer retries when it is used up', async () => {
    const other = { ...principal, accountId: 'acct_small', apiKeyId: 'key_small' };
    const ask = (changes: Partial<KeyRequest>) =>
      service.generate(other, keyRequest({}, changes), { ...PRESENT, render });
    const retried = [
      { idempotency: idempotency() },
      { idempotency: idempotency(), sealTo: sealTo() },
      { idempotency: idempotency(), count: 2, isBatch: true },
    ];
    for (const changes of retried) await ask(changes);
    const rest = { count: 996, isBatch: true };
    const tooMany = await ask({ ...rest, count: 997 });
    assert.ok(tooMany.kind === 'quota_exceeded');
    assert.equal(tooMany.usage.used, 4);
    const last = await ask(rest);
    assert.ok(last.kind === 'generated' && last.usage.used === 1_000);
    assert.equal((await ask({})).kind, 'quota_exceeded');
    assert.equal((await ask({ idempotency: idempotency() })).kind, 'quota_exceeded');
    const again = await Promise.all(retried.map((changes) => ask(changes)));
    assert.deepEqual(
      again.map(({ kind }) => kind),
      ['key_already_made', 'sealed', 'key_already_made'],
    );
  });

  it('make exactly one set of keys for each Idempotency-Key (property)', async () => {
    const run = `${nextKey++}`;
    const firsts = new Map<string, { readonly hash: number; readonly keyIds: readonly string[] }>();
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      hash: fc.constantFrom(1, 2),
      kind: fc.constantFrom('plain', 'batch', 'sealed'),
      twice: fc.boolean(),
    });
    const kinds = {
      plain: {},
      batch: { count: 2, isBatch: true },
      sealed: { sealTo: [{ recipient: 'station' }] },
    };
    await fc.assert(
      fc.asyncProperty(fc.uuid(), fc.array(step, { maxLength: 12 }), async (example, steps) => {
        const before = await recordedKeys();
        firsts.clear();
        for (const { key, hash, kind, twice } of steps) {
          const changes = {
            ...kinds[kind as keyof typeof kinds],
            idempotency: idempotency(`${run} ${example} ${key}`, Buffer.alloc(32, hash)),
          };
          const outcomes = await Promise.allSettled([
            generate(changes),
            ...(twice ? [generate(changes)] : []),
          ]);
          const codes = outcomes.map((one) =>
            one.status === 'fulfilled' ? one.value.kind : one.reason.code,
          );
          const first = firsts.get(key);
          if (twice) assert.equal(codes[1], 'idempotency_in_progress');
          const [outcome] = outcomes;
          if (first && first.hash !== hash) {
            assert.equal(codes[0], 'idempotency_key_reused');
          } else {
            assert.ok(outcome?.status === 'fulfilled');
            const keyIds = keyIdsOf(outcome.value);
            if (first) assert.deepEqual(keyIds, first.keyIds);
            else firsts.set(key, { hash, keyIds });
          }
        }
        const made = [...firsts.values()].reduce((sum, { keyIds }) => sum + keyIds.length, 0);
        assert.equal((await recordedKeys()) - before, made);
      }),
      { numRuns: 12 },
    );
  });
});

/** Adds an account with a quota of 1,000. */
async function addSmallAccount(store: LedgerStore): Promise<void> {
  const accountId = 'acct_small';
  const createdMs = 0;
  await store.addAccount({ accountId, name: 'small', plan: 'research', demo: false, createdMs });
  const record = { apiKeyId: 'key_small', accountId, hint: '', createdMs, revokedMs: null };
  await store.addApiKey(record, Buffer.alloc(32, 8));
}

function keyIdsOf(outcome: GenerateOutcome): readonly string[] {
  if (outcome.kind === 'generated') return outcome.keys.map(({ keyId }) => keyId);
  assert.ok(outcome.kind === 'sealed' || outcome.kind === 'key_already_made', outcome.kind);
  return outcome.keyIds;
}
