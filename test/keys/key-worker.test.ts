/** The key worker's promise: no key without its row, whatever the ledger answers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { KeyWorker } from '../../src/keys/key-worker.ts';
import type { KeyBatch, KeyTask } from '../../src/keys/messages.ts';
import type { CommitOutcome, LedgerStore, MeteredRequest } from '../../src/ledger/index.ts';
import { fakeGenerator, keyring, order, RecordingDrbg } from './fakes.ts';

const requester = { accountId: 'a', apiKeyId: 'k', atMs: Date.UTC(2026, 10, 21) };
const usage = { month: 1, used: 1, quota: null };

function store(commit: (requests: readonly MeteredRequest[]) => CommitOutcome[]): LedgerStore {
  return {
    commit: async (requests: readonly MeteredRequest[]) => commit(requests),
    findCommitments: async (queries: readonly unknown[]) => queries.map(() => false),
  } as unknown as LedgerStore;
}

const batch = (...tasks: KeyTask[]): KeyBatch => ({ id: 1, tasks, failures: [] });
const generateTask: KeyTask = { kind: 'generate', requester, order: order() };

/** The modulated key is the only 32-byte buffer that leaves; its bytes must not. */
function committedRow(requests: readonly MeteredRequest[]): string {
  return JSON.stringify(requests, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}

describe('key worker', () => {
  it('hands the ledger a commitment and nothing of the key', async () => {
    let seen = '';
    const ledger = store((requests) => {
      seen = committedRow(requests);
      return requests.map(() => ({ kind: 'committed', usage }));
    });
    const worker = new KeyWorker(fakeGenerator(new RecordingDrbg()), keyring, ledger);
    const { results } = await worker.run(batch(generateTask));
    const result = results[0];
    assert.ok(result?.kind === 'generated');
    const digest = JSON.stringify(Buffer.from(result.generated.commitment.digest));
    assert.ok(seen.includes(digest));
    assert.ok(!seen.includes(JSON.stringify(Buffer.from(result.generated.key)).slice(24, -2)));
    assert.match(result.keyId, /^phm_[0-9]+$/);
  });

  it('answers ledger_unavailable without a key and keeps the failures when the commit fails', async () => {
    const drbg = new RecordingDrbg();
    const ledger = store(() => {
      throw new AppError('ledger_unavailable', { retryAfterSeconds: 5 });
    });
    const worker = new KeyWorker(fakeGenerator(drbg), keyring, ledger);
    const reply = await worker.run({
      ...batch(generateTask, { kind: 'validate', requester, key: undefined, proof: undefined }),
      failures: [{ accountId: 'a', atMs: 0, counts: { streams: 0, streamsPassed: 0 } }],
    });
    assert.equal(reply.failuresRecorded, false);
    for (const result of reply.results) {
      assert.ok(result.kind === 'failed');
      assert.equal(result.failure.code, 'ledger_unavailable');
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
});
