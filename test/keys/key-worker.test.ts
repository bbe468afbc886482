/** The key worker's promise: no key without its row, whatever the ledger answers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { KeyWorker } from '../../src/keys/key-worker.ts';
import type { KeyBatch, KeyTask } from '../../src/keys/messages.ts';
import type {
  CommitmentQuery,
  CommitOutcome,
  LedgerStore,
  MeteredRequest,
} from '../../src/ledger/index.ts';
import type { Keyring } from '../../src/proof/index.ts';
import { fakeGenerator, keyring, order, RecordingDrbg } from './fakes.ts';

const requester = { accountId: 'a', apiKeyId: 'k', atMs: Date.UTC(2026, 10, 21) };
const usage = { month: 1, used: 1, quota: null };

function store(commit: (requests: readonly MeteredRequest[]) => CommitOutcome[]): LedgerStore {
  return {
    commit: async (requests: readonly MeteredRequest[]) => commit(requests),
    findCommitments: async (queries: readonly unknown[]) => queries.map(() => false),
    secretChecks: async () => new Map(),
  } as unknown as LedgerStore;
}

const batch = (...tasks: KeyTask[]): KeyBatch => ({ id: 1, tasks, failures: [] });
const generateTask: KeyTask = { kind: 'generate', requester, order: order() };

/** A keyring that keeps hold of the very buffer it is shown. */
function spyingKeyring(): { spy: Keyring; shown: Uint8Array[] } {
  const shown: Uint8Array[] = [];
  const spy = {
    makeProof: (key: Uint8Array) => {
      shown.push(key);
      return keyring.makeProof(key);
    },
    commit: (key: Uint8Array) => keyring.commit(key),
  } as unknown as Keyring;
  return { spy, shown };
}

/** Whether any part of a value, however deep, holds the bytes in one of the forms of a key. */
function holds(value: unknown, key: Buffer): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(key.toString('hex'));
  if (value instanceof Uint8Array) return Buffer.from(value).includes(key);
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).some((part) => holds(part, key));
  }
  return false;
}

describe('key worker', () => {
  it('hands the ledger a commitment and nothing of the key', async () => {
    let seen: readonly MeteredRequest[] = [];
    const ledger = store((requests) => {
      seen = requests;
      return requests.map(() => ({ kind: 'committed', usage }));
    });
    const worker = new KeyWorker(fakeGenerator(new RecordingDrbg()), keyring, ledger);
    const { results } = await worker.run(batch(generateTask));
    const result = results[0];
    assert.ok(result?.kind === 'generated');
    const key = Buffer.from(result.generated.key);
    assert.ok(holds({ deep: [result.generated.key] }, key), 'the search finds a key');
    assert.equal(holds(seen, key), false);
    assert.deepEqual(seen[0]?.key?.row.commitment, keyring.commit(key).digest);
    assert.match(result.keyId, /^phm_[0-9]+$/);
  });

  it('answers ledger_unavailable, wipes the key and keeps the failures when the commit fails', async () => {
    const ledger = store(() => {
      throw new AppError('ledger_unavailable', { retryAfterSeconds: 5 });
    });
    const { spy, shown } = spyingKeyring();
    const worker = new KeyWorker(fakeGenerator(new RecordingDrbg()), spy, ledger);
    const reply = await worker.run({
      ...batch(generateTask, { kind: 'validate', requester, key: undefined, proof: undefined }),
      failures: [{ accountId: 'a', atMs: 0, counts: { streams: 0, streamsPassed: 0 } }],
    });
    assert.equal(reply.failuresRecorded, false);
    for (const result of reply.results) {
      assert.ok(result.kind === 'failed');
      assert.equal(result.failure.code, 'ledger_unavailable');
    }
    assert.equal(shown.length, 1);
    assert.ok(shown[0]?.every((byte) => byte === 0));
  });

  it('wipes a key that is refused for quota or repeats another', async () => {
    for (const kind of ['quota_exceeded', 'repeated_key'] as const) {
      const { spy, shown } = spyingKeyring();
      const ledger = store((requests) => requests.map(() => ({ kind, usage })));
      await new KeyWorker(fakeGenerator(new RecordingDrbg()), spy, ledger).run(batch(generateTask));
      assert.ok(
        shown[0]?.every((byte) => byte === 0),
        kind,
      );
    }
  });

  it('refuses a request over quota alone, in the middle of a batch', async () => {
    const ledger = store((requests) =>
      requests.map((_, i) =>
        i === 1 ? { kind: 'quota_exceeded', usage } : { kind: 'committed', usage },
      ),
    );
    const worker = new KeyWorker(fakeGenerator(new RecordingDrbg()), keyring, ledger);
    const { results } = await worker.run(batch(generateTask, generateTask, generateTask));
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['generated', 'quota_exceeded', 'generated'],
    );
  });

  it('latches its generator when the ledger finds a key repeated', async () => {
    const ledger = store((requests) => requests.map(() => ({ kind: 'repeated_key' })));
    const worker = new KeyWorker(fakeGenerator(new RecordingDrbg()), keyring, ledger);
    const { results, status } = await worker.run(batch(generateTask));
    assert.ok(results[0]?.kind === 'failed');
    assert.equal(results[0].failure.code, 'entropy_unavailable');
    assert.match(status.latched ?? '', /repeats/);
    const again = await worker.run(batch(generateTask));
    assert.ok(again.results[0]?.kind === 'failed');
  });

  it('keeps validating when its generator is latched', async () => {
    const ledger = store((requests) => requests.map(() => ({ kind: 'committed', usage })));
    const generator = fakeGenerator(new RecordingDrbg());
    generator.latch('staged');
    const worker = new KeyWorker(generator, keyring, ledger);
    const key = Buffer.alloc(16, 0x5a);
    const task: KeyTask = { kind: 'validate', requester, key, proof: undefined };
    const { results } = await worker.run(batch(generateTask, task));
    assert.ok(results[0]?.kind === 'failed' && results[0].failure.code === 'entropy_unavailable');
    assert.ok(results[1]?.kind === 'validated');
    assert.ok(
      key.every((byte) => byte === 0),
      'the validated key is wiped',
    );
  });

  describe('without a version of the master secret that makes keys elsewhere', () => {
    const check = { checkValue: Buffer.alloc(32), activated: true };
    const found = new Set<bigint>();
    const ledger = {
      ...store((requests) => requests.map(() => ({ kind: 'committed', usage }))),
      findCommitments: async (queries: readonly CommitmentQuery[]) =>
        queries.map(({ fingerprint }) => found.has(fingerprint)),
      secretChecks: async () =>
        new Map([
          [1, check],
          [2, check],
          [3, { ...check, activated: false }],
        ]),
    };
    const worker = new KeyWorker(fakeGenerator(new RecordingDrbg()), keyring, ledger);
    const validate = async (key: Buffer | undefined, proof?: string) => {
      const task: KeyTask = { kind: 'validate', requester, key: key && Buffer.from(key), proof };
      return (await worker.run(batch(task))).results[0];
    };
    const key = randomBytes(32);

    it('says of no key that it was not made here', async () => {
      for (const proof of [undefined, keyring.makeProof(randomBytes(32))]) {
        const result = await validate(key, proof);
        assert.ok(result?.kind === 'failed');
        assert.equal(result.failure.code, 'ledger_unavailable');
        assert.match(result.failure.reason, /lacks version 2$/);
      }
    });

    it('goes on with what it can tell', async () => {
      const malformed = await validate(undefined);
      assert.ok(malformed?.kind === 'validated' && !malformed.verdict.valid);
      const proven = await validate(key, keyring.makeProof(key));
      assert.ok(proven?.kind === 'validated' && proven.verdict.valid);
      found.add(keyring.commit(key).fingerprint);
      const known = await validate(key);
      assert.ok(known?.kind === 'validated' && known.verdict.valid);
    });

    it('reports it with the state of the ledger', async () => {
      assert.deepEqual(await worker.checkLedger(), { failure: null, lackedVersions: [2] });
    });
  });

  it('reports a ledger that cannot commit', async () => {
    const ledger = store(() => {
      throw new AppError('ledger_unavailable', { cause: new Error('the disk is full') });
    });
    const worker = new KeyWorker(fakeGenerator(new RecordingDrbg()), keyring, ledger);
    assert.deepEqual(await worker.checkLedger(), {
      failure: 'the disk is full',
      lackedVersions: null,
    });
  });
});
