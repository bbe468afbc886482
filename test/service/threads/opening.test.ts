/** The opening of a key's commitment goes where the key goes, and is wiped where the key is wiped. */

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../../src/errors.ts';
import { generateKey } from '../../../src/keys/generate.ts';
import { keyCommitment } from '../../../src/keys/key-receipt.ts';
import type { GeneratedKey, KeyOrder } from '../../../src/keys/order.ts';
import { PlainGenerator } from '../../../src/keys/plain-generator.ts';
import type { CommitOutcome, LedgerStore, MeteredRequest } from '../../../src/ledger/index.ts';
import { HmacKey } from '../../../src/proof/index.ts';
import { KeyWorker } from '../../../src/service/threads/key-worker.ts';
import type { KeyTask, LogBinding } from '../../../src/service/threads/messages.ts';
import { packReply } from '../../../src/service/threads/packed-batches.ts';
import { packRows } from '../../../src/service/threads/packed-rows.ts';
import {
  fakeGenerator,
  fakePlainGenerator,
  keyring,
  order,
  ownChecks,
  plainRow,
  RecordingDrbg,
  STAGED,
} from '../../support/servers/fakes.ts';

const LOG: LogBinding = {
  logId: 1,
  origin: 'phm.invalid/0123456789abcdef',
  software: 'phm-key-service/0+0',
  softwareId: 7,
};
const usage = { month: 1, used: 1, quota: null };
const requester = { accountId: 'a', apiKeyId: 'k', atMs: 5 };
const task: KeyTask = {
  kind: 'generate',
  requester,
  order: order({ receipt: true }),
  idempotency: null,
};

const isWiped = (bytes: Uint8Array) => bytes.every((byte) => byte === 0);

/** Collects every key that a plain generator generates. */
function spyOnKeys(t: TestContext): GeneratedKey[] {
  const made: GeneratedKey[] = [];
  const { make } = PlainGenerator.prototype;
  t.mock.method(
    PlainGenerator.prototype,
    'make',
    function (this: PlainGenerator, ...given: Parameters<typeof make>) {
      const result = make.apply(this, given);
      if (result) made.push(result.key as GeneratedKey);
      return result;
    },
  );
  return made;
}

type Commit = (requests: readonly MeteredRequest[]) => CommitOutcome[] | Promise<CommitOutcome[]>;

function workerWith(commit: Commit, secretChecks = ownChecks(keyring)) {
  const generator = fakeGenerator(new RecordingDrbg());
  const plain = fakePlainGenerator(generator);
  const store = {
    commit: async (requests: readonly MeteredRequest[]) => commit(requests),
    secretChecks: async () => secretChecks,
    findCommitments: async (queries: readonly unknown[]) => queries.map(() => null),
    findStates: async (queries: readonly unknown[]) => queries.map(() => null),
    probe: async () => false,
    hasOwnApiKeys: async () => false,
  } as unknown as LedgerStore;
  return { generator, plain, worker: new KeyWorker(plain, keyring, store, LOG) };
}

const run = (worker: KeyWorker) => worker.run({ id: 1, tasks: [task], failures: [] });

const all = (kind: CommitOutcome['kind']) => (requests: readonly MeteredRequest[]) =>
  requests.map(() => ({ kind, usage }) as CommitOutcome);

/** Reports whether any part of a value, at any depth, holds the bytes in a usual form. */
function holds(value: unknown, bytes: Buffer): boolean {
  if (typeof value === 'string') {
    return ['hex', 'base64', 'base64url', 'latin1'].some((encoding) =>
      value.includes(bytes.toString(encoding as BufferEncoding)),
    );
  }
  if (value instanceof Uint8Array) return Buffer.from(value).includes(bytes);
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).some((part) => holds(part, bytes));
  }
  return false;
}

describe('the opening of a key', () => {
  it('reaches the answer with the key, and nothing else', async (t) => {
    const made = spyOnKeys(t);
    let seen: readonly MeteredRequest[] = [];
    const { worker } = workerWith((requests) => {
      seen = requests;
      return all('committed')(requests);
    });
    const reply = await run(worker);
    const [result] = reply.results;
    assert.ok(result?.kind === 'generated');
    const [released] = result.keys;
    assert.ok(released);
    const { key, opening } = released;
    assert.ok(opening);
    assert.equal(opening, made[0]?.opening);
    assert.equal(opening.length, 32);
    const bytes = Buffer.from(opening);
    assert.ok(holds(reply, bytes), 'the search finds an opening');
    assert.equal(holds(seen, bytes), false);
    assert.equal(holds(seen, Buffer.from(key)), false);
    assert.deepEqual(
      keyCommitment(opening, released.keyId, key),
      Buffer.from(seen[0]?.keys[0]?.receipt?.keyCommitment ?? []),
    );
    assert.equal(result.createdMs, requester.atMs);
    const secrets = Buffer.concat([key, opening, released.answerDigest]);
    const packed = packReply(reply);
    assert.deepEqual(
      Buffer.from(packed.keys.secrets),
      secrets,
      'only the digest travels with them',
    );
    assert.ok(isWiped(key) && isWiped(opening), 'no copy stays in the key worker');
  });

  const refusals: Record<string, Commit> = {
    'the quota is used up': all('quota_exceeded'),
    'the key repeats another one': all('repeated_key'),
    'the commit fails': () => {
      throw new AppError('ledger_unavailable', { retryAfterSeconds: 5 });
    },
  };
  for (const [what, commit] of Object.entries(refusals)) {
    it(`is wiped if ${what}`, async (t) => {
      const made = spyOnKeys(t);
      const { results } = await run(workerWith(commit).worker);
      assert.ok(results[0] && results[0].kind !== 'generated');
      assert.equal(made.length, 1);
      assert.ok(made.every(({ key, opening }) => isWiped(key) && opening && isWiped(opening)));
    });
  }

  it('is wiped if the process latches before the commit', async (t) => {
    const made = spyOnKeys(t);
    let answer: (() => void) | undefined;
    const { worker, generator } = workerWith(
      (requests) =>
        new Promise((resolve) => {
          answer = () => resolve(all('committed')(requests));
        }),
    );
    const first = run(worker);
    const second = run(worker);
    await setImmediate();
    generator.latch(STAGED);
    answer?.();
    const [[one], [two]] = [(await first).results, (await second).results];
    assert.deepEqual([one?.kind, two?.kind], ['failed', 'failed']);
    assert.equal(made.length, 2);
    assert.ok(made.every(({ key, opening }) => isWiped(key) && opening && isWiped(opening)));
  });

  it('is wiped if the version of the secret is retired', async (t) => {
    const made = spyOnKeys(t);
    const retirement = { retiredMs: 1, compromisedMs: null };
    const check = { checkValue: keyring.checkValue(1), activated: true, retirement };
    const { worker } = workerWith(all('committed'), new Map([[1, check]]));
    await worker.checkLedger();
    const { results } = await run(worker);
    assert.equal(results[0]?.kind, 'failed');
    assert.ok(made.every(({ key, opening }) => isWiped(key) && opening && isWiped(opening)));
    assert.equal(made.length, 1);
  });

  it('is wiped where it was made, unless the order asks for a receipt', (t) => {
    // The HMAC under the opening is the only one whose key changes: the others are subkeys of the keyring.
    const { setKey: setOriginal } = HmacKey.prototype;
    const setKey = t.mock.method(HmacKey.prototype, 'setKey');
    const copies: Buffer[] = [];
    setKey.mock.mockImplementation(function (this: HmacKey, opening: Uint8Array) {
      copies.push(Buffer.from(opening));
      setOriginal.call(this, opening);
    });
    const opened = (changes: Partial<KeyOrder>, hasLog: boolean) => {
      const counts = { streams: 0, streamsPassed: 0 };
      const generator = fakeGenerator(new RecordingDrbg());
      return generateKey(generator, keyring, order(changes), counts, hasLog);
    };
    const withReceipt = opened({ receipt: true }, true);
    assert.deepEqual(withReceipt.opening, copies[0]);
    const without = opened({ receipt: false }, true);
    assert.equal(without.opening, null);
    assert.ok(without.receipt && copies.length === 2 && !copies[1].equals(copies[0]));
    assert.ok(setKey.mock.calls.every(({ arguments: [opening] }) => isWiped(opening)));
    const withoutLog = opened({ receipt: true }, false);
    assert.deepEqual([withoutLog.opening, withoutLog.receipt], [null, null]);
    assert.equal(setKey.mock.callCount(), 2);
  });
});

describe('a key worker without a log', () => {
  it('writes rows without receipt columns', async () => {
    let seen: readonly MeteredRequest[] = [];
    const store = {
      commit: async (requests: readonly MeteredRequest[]) => {
        seen = requests;
        return all('committed')(requests);
      },
    } as unknown as LedgerStore;
    const plain = fakePlainGenerator(fakeGenerator(new RecordingDrbg()));
    const worker = new KeyWorker(plain, keyring, store, null);
    const recorded: KeyTask = {
      kind: 'record',
      requester,
      rows: [packRows([plainRow()])],
      counts: { streams: 1, streamsPassed: 1 },
      idempotency: null,
    };
    const { results } = await worker.run({ id: 1, tasks: [task, recorded], failures: [] });
    assert.deepEqual(
      seen.map(({ keys }) => keys[0]?.receipt),
      [null, null],
    );
    assert.ok(results[0]?.kind === 'generated' && results[0].keys[0]?.opening === null);
  });
});
