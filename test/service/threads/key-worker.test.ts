/** The key worker releases no key without its row, whatever the ledger answers. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../../src/errors.ts';
import { Generator } from '../../../src/keys/generator.ts';
import { Latch } from '../../../src/keys/latch.ts';
import {
  type AnswerQuery,
  BOX_LIMITS,
  type CommitOutcome,
  type LedgerStore,
  type MeteredRequest,
} from '../../../src/ledger/index.ts';
import type { Commitment, Keyring } from '../../../src/proof/index.ts';
import { KeyWorker } from '../../../src/service/threads/key-worker.ts';
import type { KeyBatch, KeyTask } from '../../../src/service/threads/messages.ts';
import { packRows } from '../../../src/service/threads/packed-rows.ts';
import {
  fakeGenerator,
  fakePlainGenerator,
  keyring,
  order,
  ownChecks,
  parts,
  plainRow,
  RecordingDrbg,
  STAGED,
} from '../../support/servers/fakes.ts';

const requester = { accountId: 'a', apiKeyId: 'k', atMs: Date.UTC(2026, 10, 21) };
const usage = { month: 1, used: 1, quota: null };

function store(commit: (requests: readonly MeteredRequest[]) => CommitOutcome[]): LedgerStore {
  return {
    commit: async (requests: readonly MeteredRequest[]) => commit(requests),
    findCommitments: async (queries: readonly unknown[]) => queries.map(() => null),
    findStates: async (queries: readonly unknown[]) => queries.map(() => null),
    secretChecks: async () => ownChecks(keyring),
    probe: async () => false,
    hasOwnApiKeys: async () => false,
    host: null,
  } as unknown as LedgerStore;
}

/** A store whose commits wait until the test sets their outcome. */
function pendingStore() {
  const commits: { size: number; answer: (kind?: 'committed' | 'repeated_key') => void }[] = [];
  const ledger = {
    commit: (requests: readonly MeteredRequest[]) =>
      new Promise<CommitOutcome[]>((resolve) => {
        commits.push({
          size: requests.length,
          answer: (kind = 'committed') => resolve(requests.map(() => ({ kind, usage }))),
        });
      }),
  } as unknown as LedgerStore;
  return { ledger, commits };
}

const batch = (...tasks: KeyTask[]): KeyBatch => ({ id: 1, tasks, failures: [] });
const generateTask: KeyTask = { kind: 'generate', requester, order: order(), idempotency: null };

/** A key of a suite worker. */
const recordTask: KeyTask = {
  kind: 'record',
  requester,
  rows: [packRows([plainRow()])],
  counts: { streams: 1, streamsPassed: 1 },
  idempotency: null,
};

/** A text that is not a key. */
const validateTask: KeyTask = { kind: 'validate', requester, key: undefined, proof: undefined };

/** A keyring that keeps a reference to the buffer it receives. */
function spyingKeyring(): { spy: Keyring; shown: Uint8Array[] } {
  const shown: Uint8Array[] = [];
  const spy = {
    makeProof: (key: Uint8Array) => {
      shown.push(key);
      return keyring.makeProof(key);
    },
    commit: (key: Uint8Array) => keyring.commit(key),
    commitOthers: () => [],
  } as unknown as Keyring;
  return { spy, shown };
}

/** Reports whether any part of a value, at any depth, holds the bytes in one of the forms of a key. */
function holds(value: unknown, key: Buffer): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(key.toString('hex'));
  if (value instanceof Uint8Array) return Buffer.from(value).includes(key);
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).some((part) => holds(part, key));
  }
  return false;
}

describe('key worker', () => {
  it('reads what many retries need in one query, and a recipient once', async () => {
    const asked: (readonly AnswerQuery[])[] = [];
    const recipients: string[] = [];
    const answer = {
      requestHash: Buffer.alloc(32),
      keyIds: [],
      createdMs: 0,
      body: '{}',
    };
    const ledger = {
      ...store(() => []),
      findAnswers: async (queries: readonly AnswerQuery[]) => {
        asked.push(queries);
        return queries.map(({ key }) => (key === 'known' ? answer : null));
      },
      findRecipient: async (accountId: string, name: string) => {
        recipients.push(`${accountId} ${name}`);
        return name === 'nobody' ? null : { suite: 'ML-KEM-1024', publicKey: Buffer.from(name) };
      },
    } as unknown as LedgerStore;
    const worker = new KeyWorker(
      fakePlainGenerator(fakeGenerator(new RecordingDrbg())),
      keyring,
      ledger,
    );
    const recall = (key: string | null, names: readonly string[], accountId = 'a'): KeyTask => ({
      kind: 'recall',
      requester: { ...requester, accountId },
      delivery: null,
      idempotency: key === null ? null : { key, requestHash: Buffer.alloc(32) },
      names,
    });
    const { results } = await worker.run(
      batch(
        ...[recall('new', ['ben']), recall('known', []), recall(null, ['ben'])],
        ...[recall(null, ['nobody', 'ben', 'ben']), recall('new', ['ben'], 'b')],
      ),
    );
    const ben = { suite: 'ML-KEM-1024', publicKey: Buffer.from('ben') };
    const recalled = (recipients: readonly (object | null)[], found: object | null = null) => ({
      ...{ kind: 'recalled', answer: found, recipients, refusal: null },
    });
    assert.deepEqual(results, [
      recalled([ben]),
      recalled([], answer),
      recalled([ben]),
      recalled([null, ben, ben]),
      recalled([ben]),
    ]);
    assert.deepEqual(
      asked.map((queries) => queries.map(({ accountId, key }) => `${accountId} ${key}`)),
      [['a new', 'a known', 'b new']],
    );
    assert.deepEqual(recipients, ['a ben', 'a nobody', 'b ben']);
  });

  it('finds the answer of a request that another server commits before its deliveries are refused', async () => {
    const answer = { requestHash: Buffer.alloc(32), keyIds: [], createdMs: 0, body: '{}' };
    const refusal = { reason: 'exists', places: [0] } as const;
    let isCommitted = false;
    const ledger = {
      ...store(() => []),
      findAnswers: async (queries: readonly AnswerQuery[]) =>
        queries.map(({ key }) => (isCommitted && key === 'retry' ? answer : null)),
      findRecipient: async () => ({ suite: 'ML-KEM-1024', publicKey: Buffer.from('ben') }),
      findDeliveryRefusal: async () => {
        isCommitted = true;
        return refusal;
      },
    } as unknown as LedgerStore;
    const worker = new KeyWorker(
      fakePlainGenerator(fakeGenerator(new RecordingDrbg())),
      keyring,
      ledger,
    );
    const recall = async (key: string | null) => {
      isCommitted = false;
      const { results } = await worker.run(
        batch({
          ...{ kind: 'recall', requester, names: ['ben'] },
          idempotency: key === null ? null : { key, requestHash: Buffer.alloc(32) },
          delivery: { ids: [Buffer.alloc(16)], limits: BOX_LIMITS },
        }),
      );
      const [result] = results;
      assert.ok(result?.kind === 'recalled');
      return [result.answer, result.refusal];
    };
    assert.deepEqual(await recall('retry'), [answer, refusal], 'the answer counts first');
    assert.deepEqual(await recall('other'), [null, refusal]);
    assert.deepEqual(await recall(null), [null, refusal]);
  });

  it('passes a commitment to the ledger and nothing of the key', async () => {
    let seen: readonly MeteredRequest[] = [];
    const ledger = store((requests) => {
      seen = requests;
      return requests.map(() => ({ kind: 'committed', usage }));
    });
    const worker = new KeyWorker(
      fakePlainGenerator(fakeGenerator(new RecordingDrbg())),
      keyring,
      ledger,
    );
    const { results } = await worker.run(batch(generateTask));
    const result = results[0];
    assert.ok(result?.kind === 'generated');
    const [released] = result.keys;
    assert.ok(released);
    const key = Buffer.from(released.key);
    assert.ok(holds({ deep: [released.key] }, key), 'the search finds a key');
    assert.equal(holds(seen, key), false);
    assert.deepEqual(seen[0]?.keys[0]?.commitment, keyring.commit(key));
    assert.match(released.keyId, /^phm_[0-9]+$/);
  });

  it('answers ledger_unavailable, wipes the batch’s keys and keeps its failures if the commit fails', async () => {
    const ledger = store(() => {
      throw new AppError('ledger_unavailable', { retryAfterSeconds: 5 });
    });
    const { spy, shown } = spyingKeyring();
    const worker = new KeyWorker(
      fakePlainGenerator(fakeGenerator(new RecordingDrbg())),
      spy,
      ledger,
    );
    const reply = await worker.run({
      ...batch(...Array.from({ length: 1_023 }, () => generateTask), {
        kind: 'validate',
        requester,
        key: undefined,
        proof: undefined,
      }),
      failures: [{ accountId: 'a', atMs: 0, counts: { streams: 0, streamsPassed: 0 } }],
    });
    assert.equal(reply.failuresRecorded, false);
    assert.equal(reply.results.length, 1_024);
    for (const result of reply.results) {
      assert.ok(result.kind === 'failed');
      assert.equal(result.failure.code, 'ledger_unavailable');
    }
    assert.equal(shown.length, 1_023);
    assert.ok(shown.every((key) => key.every((byte) => byte === 0)));
  });

  it('releases, looks up and reports nothing after a check found the ledger damaged', async () => {
    let commits = 0;
    const ledger = store((requests) => {
      commits += 1;
      return requests.map(() => ({ kind: 'committed', usage }));
    });
    const drbg = new RecordingDrbg();
    const worker = new KeyWorker(fakePlainGenerator(fakeGenerator(drbg)), keyring, ledger);
    worker.condemn('the database is damaged');
    const lookup: KeyTask = { kind: 'authenticate', keyHashes: [Buffer.alloc(32)], nowMs: 1 };
    const { results } = await worker.run(batch(generateTask, recordTask, validateTask, lookup));
    const reason = 'the database is damaged';
    const failure = { code: 'ledger_unavailable', retryAfterSeconds: 5, reason };
    assert.deepEqual(
      results,
      results.map(() => ({ kind: 'failed', failure })),
    );
    assert.equal(results.length, 4);
    assert.equal((await worker.checkLedger()).failure, reason);
    assert.equal(commits, 0);
  });

  it('wipes a key that exceeds the quota or repeats another key', async () => {
    for (const kind of ['quota_exceeded', 'repeated_key'] as const) {
      const { spy, shown } = spyingKeyring();
      const ledger = store((requests) => requests.map(() => ({ kind, usage })));
      await new KeyWorker(fakePlainGenerator(fakeGenerator(new RecordingDrbg())), spy, ledger).run(
        batch(generateTask),
      );
      assert.ok(
        shown[0]?.every((byte) => byte === 0),
        kind,
      );
    }
  });

  it('refuses only the request over quota in the middle of a batch', async () => {
    const ledger = store((requests) =>
      requests.map((_, i) =>
        i === 1 ? { kind: 'quota_exceeded', usage } : { kind: 'committed', usage },
      ),
    );
    const worker = new KeyWorker(
      fakePlainGenerator(fakeGenerator(new RecordingDrbg())),
      keyring,
      ledger,
    );
    const { results } = await worker.run(batch(generateTask, generateTask, generateTask));
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['generated', 'quota_exceeded', 'generated'],
    );
  });

  for (const [what, task] of [
    ['its own', generateTask],
    ['a suite worker', recordTask],
  ] as const) {
    it(`latches the process if the ledger reports a repeated key of ${what}`, async () => {
      const ledger = store((requests) => requests.map(() => ({ kind: 'repeated_key' })));
      const generator = fakeGenerator(new RecordingDrbg());
      const worker = new KeyWorker(fakePlainGenerator(generator), keyring, ledger);
      const { results } = await worker.run(batch(task));
      assert.ok(results[0]?.kind === 'failed');
      assert.equal(results[0].failure.code, 'entropy_unavailable');
      assert.equal(generator.latched?.cause, 'repeated_key');
      const again = await worker.run(batch(generateTask));
      assert.ok(again.results[0]?.kind === 'failed');
    });
  }

  it('still validates keys while its generator is latched', async () => {
    const ledger = store((requests) => requests.map(() => ({ kind: 'committed', usage })));
    const generator = fakeGenerator(new RecordingDrbg());
    generator.latch(STAGED);
    const worker = new KeyWorker(fakePlainGenerator(generator), keyring, ledger);
    const key = Buffer.alloc(16, 0x5a);
    const task: KeyTask = { kind: 'validate', requester, key, proof: undefined };
    const { results } = await worker.run(batch(generateTask, task));
    assert.ok(results[0]?.kind === 'failed' && results[0].failure.code === 'entropy_unavailable');
    assert.ok(results[1]?.kind === 'validated');
    assert.ok(
      key.every((byte) => byte === 0),
      'the key with evidence is wiped',
    );
  });

  it('prepares the next batch during a commit and commits the batches in order', async () => {
    const { ledger, commits } = pendingStore();
    const { spy, shown } = spyingKeyring();
    const worker = new KeyWorker(
      fakePlainGenerator(fakeGenerator(new RecordingDrbg())),
      spy,
      ledger,
    );
    const first = worker.run(batch(generateTask));
    const second = worker.run(batch(generateTask, generateTask));
    await setImmediate();
    assert.equal(shown.length, 3, 'the keys of both batches are made');
    assert.deepEqual(
      commits.map(({ size }) => size),
      [1],
      'one commit is under way',
    );
    commits[0]?.answer();
    assert.equal((await first).results[0]?.kind, 'generated');
    await setImmediate();
    assert.deepEqual(
      commits.map(({ size }) => size),
      [1, 2],
    );
    commits[1]?.answer();
    assert.equal((await second).results.length, 2);
  });

  it('drops plain and validated keys after another thread latched, and commits the rest', async () => {
    const { ledger, commits } = pendingStore();
    const { spy, shown } = spyingKeyring();
    const latch = Latch.forThreads(2);
    const generator = new Generator(parts({ latch }));
    const worker = new KeyWorker(fakePlainGenerator(generator), spy, ledger);
    const first = worker.run(batch(generateTask));
    const failures = [{ accountId: 'a', atMs: 0, counts: { streams: 0, streamsPassed: 0 } }];
    const second = worker.run({ ...batch(generateTask, recordTask, validateTask), failures });
    await setImmediate();
    new Latch(latch.memory).set(STAGED);
    commits[0]?.answer();
    await first;
    await setImmediate();
    assert.deepEqual(
      commits.map(({ size }) => size),
      [1, 1],
      'the validation alone is committed',
    );
    commits[1]?.answer();
    const { results } = await second;
    for (const result of results.slice(0, 2)) {
      assert.ok(result.kind === 'failed');
      assert.equal(result.failure.code, 'entropy_unavailable');
      assert.match(result.failure.reason, /gate, rank: staged/);
    }
    assert.equal(results[2]?.kind, 'validated');
    assert.ok(shown[1]?.every((byte) => byte === 0));
  });

  it('wipes the keys of a commit during which another thread latched', async () => {
    const { ledger, commits } = pendingStore();
    const { spy, shown } = spyingKeyring();
    const latch = Latch.forThreads(2);
    const generator = new Generator(parts({ latch }));
    const worker = new KeyWorker(fakePlainGenerator(generator), spy, ledger);
    const running = worker.run(batch(generateTask));
    await setImmediate();
    new Latch(latch.memory).set(STAGED);
    commits[0]?.answer();
    const { results } = await running;
    assert.ok(results[0]?.kind === 'failed');
    assert.equal(results[0].failure.code, 'entropy_unavailable');
    assert.match(results[0].failure.reason, /gate, rank: staged/);
    assert.ok(shown[0]?.every((byte) => byte === 0));
  });

  it('withholds a prepared key if the previous batch latched the process', async () => {
    const { ledger, commits } = pendingStore();
    const { spy, shown } = spyingKeyring();
    const worker = new KeyWorker(
      fakePlainGenerator(fakeGenerator(new RecordingDrbg())),
      spy,
      ledger,
    );
    const first = worker.run(batch(generateTask));
    const second = worker.run(batch(generateTask));
    await setImmediate();
    commits[0]?.answer('repeated_key');
    await first;
    const { results } = await second;
    assert.ok(results[0]?.kind === 'failed');
    assert.equal(results[0].failure.code, 'entropy_unavailable');
    assert.equal(commits.length, 1, 'it was not even offered to the ledger');
    assert.ok(shown[1]?.every((byte) => byte === 0));
  });

  it('queries the ledger once for all validations of a batch', async () => {
    const known = Buffer.alloc(32, 0x5a);
    const { digest } = keyring.commit(known);
    const asked: number[] = [];
    const ledger = {
      ...store((requests) => requests.map(() => ({ kind: 'committed', usage }))),
      findCommitments: async (queries: readonly Commitment[]) => {
        asked.push(queries.length);
        return queries.map((query) => (digest.equals(query.digest) ? 1 : null));
      },
    } as unknown as LedgerStore;
    const worker = new KeyWorker(
      fakePlainGenerator(fakeGenerator(new RecordingDrbg())),
      keyring,
      ledger,
    );
    const validate = (byte: number): KeyTask => {
      return { kind: 'validate', requester, key: Buffer.alloc(32, byte), proof: undefined };
    };
    const { results } = await worker.run(batch(validate(1), validate(0x5a), validate(2)));
    assert.deepEqual(asked, [3]);
    assert.deepEqual(
      results.map((one) => one.kind === 'validated' && one.verdict.proofVerification),
      ['failed', 'passed', 'failed'],
    );
  });

  describe('without a master secret version that other servers use', () => {
    const check = { checkValue: Buffer.alloc(32), activated: true, retirement: null };
    const own = ownChecks(keyring);
    const found = new Set<bigint>();
    const ledger = {
      ...store((requests) => requests.map(() => ({ kind: 'committed', usage }))),
      findCommitments: async (queries: readonly Commitment[]) =>
        queries.map(({ fingerprint }) => (found.has(fingerprint) ? 1 : null)),
      secretChecks: async () => new Map([...own, [2, check], [3, { ...check, activated: false }]]),
    };
    const worker = new KeyWorker(
      fakePlainGenerator(fakeGenerator(new RecordingDrbg())),
      keyring,
      ledger,
    );
    const validate = async (key: Buffer | undefined, proof?: string) => {
      const task: KeyTask = { kind: 'validate', requester, key: key && Buffer.from(key), proof };
      return (await worker.run(batch(task))).results[0];
    };
    const key = randomBytes(32);

    it('never denies that the service generated a key', async () => {
      for (const proof of [undefined, keyring.makeProof(randomBytes(32))]) {
        const result = await validate(key, proof);
        assert.ok(result?.kind === 'failed');
        assert.equal(result.failure.code, 'ledger_unavailable');
        assert.match(result.failure.reason, /lacks version 2$/);
      }
    });

    it('still gives the verdicts that it can decide', async () => {
      const malformed = await validate(undefined);
      assert.ok(malformed?.kind === 'validated' && !malformed.verdict.valid);
      const proven = await validate(key, keyring.makeProof(key));
      assert.ok(proven?.kind === 'validated' && proven.verdict.valid);
      found.add(keyring.commit(key).fingerprint);
      const known = await validate(key);
      assert.ok(known?.kind === 'validated' && known.verdict.valid);
    });

    it('reports the missing version with the state of the ledger', async () => {
      assert.deepEqual(await worker.checkLedger(), {
        failure: null,
        isForeign: false,
        accountLocked: false,
        lackedVersions: [2],
        retired: [],
        ownApiKeys: false,
        host: null,
      });
    });
  });

  it('returns the tasks of a locked account, and counts a validation without its key later', async () => {
    const { spy, shown } = spyingKeyring();
    let isLocked = true;
    const ledger = store((requests) =>
      requests.map(({ accountId }) =>
        isLocked && accountId === 'a' ? { kind: 'account_locked' } : { kind: 'committed', usage },
      ),
    );
    const plain = fakePlainGenerator(fakeGenerator(new RecordingDrbg()));
    const worker = new KeyWorker(plain, spy, ledger);
    const other: KeyTask = { ...validateTask, requester: { ...requester, accountId: 'b' } };
    const first = await worker.run(batch(generateTask, recordTask, validateTask, other));
    assert.deepEqual(
      first.results.map(({ kind }) => kind),
      ['account_locked', 'account_locked', 'account_locked', 'validated'],
    );
    assert.ok(shown.length > 0 && shown.every((key) => key.every((byte) => byte === 0)));
    const again = first.results.map((one) => (one.kind === 'account_locked' ? one.again : null));
    assert.deepEqual(again.slice(0, 2), [null, null]);
    isLocked = false;
    const { results } = await worker.run(batch(again[2] as KeyTask));
    assert.deepEqual(results, first.results.slice(3));
  });

  it('reports a ledger that cannot commit', async () => {
    const cause = new Error('the disk is full');
    const probe = async () => {
      throw new AppError('ledger_unavailable', { cause });
    };
    const ledger = { ...store(() => []), probe } as LedgerStore;
    const worker = new KeyWorker(
      fakePlainGenerator(fakeGenerator(new RecordingDrbg())),
      keyring,
      ledger,
    );
    assert.deepEqual(await worker.checkLedger(), {
      failure: 'the disk is full',
      isForeign: false,
      accountLocked: false,
      lackedVersions: null,
      retired: null,
      ownApiKeys: false,
      host: null,
    });
  });
});
