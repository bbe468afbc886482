/** The verdict on a key in every state, with and without its proof, before and after its row is pruned. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { validationWord } from '../../../src/keys/validate.ts';
import type { KeyEnd, LedgerStore, Retirement } from '../../../src/ledger/index.ts';
import { type Commitment, Keyring } from '../../../src/proof/index.ts';
import { KeyWorker } from '../../../src/service/threads/key-worker.ts';
import type { KeyTask } from '../../../src/service/threads/messages.ts';
import {
  fakeGenerator,
  fakePlainGenerator,
  ownChecks,
  RecordingDrbg,
} from '../../support/servers/fakes.ts';

const NOW = Date.UTC(2026, 10, 23);
const ring = new Keyring([
  { version: 1, secret: Buffer.alloc(32, 1) },
  { version: 2, secret: Buffer.alloc(32, 2) },
]);
const requester = { accountId: 'a', apiKeyId: 'k', atMs: NOW };
const usage = { month: 1, used: 1, quota: null };

const revoked = (state: 'deactivated' | 'compromised'): KeyEnd => ({
  expiresMs: null,
  revocation: { state, reason: 'unspecified', revokedMs: NOW - 9 },
});
const expiring = (expiresMs: number): KeyEnd => ({ expiresMs, revocation: null });

/** States of a key, and the status that follows. */
const STATES: readonly (readonly [name: string, end: KeyEnd | null, status: string])[] = [
  ['active', null, 'active'],
  ['about to expire', expiring(NOW + 1), 'active'],
  ['expired in this millisecond', expiring(NOW), 'deactivated'],
  ['deactivated', revoked('deactivated'), 'deactivated'],
  ['compromised', revoked('compromised'), 'compromised'],
  ['expired and compromised', { ...revoked('compromised'), expiresMs: NOW - 5 }, 'compromised'],
  // The key expired and was then revoked, and the clock was set back.
  [
    'deactivated before it expires',
    { ...revoked('deactivated'), expiresMs: NOW + 5 },
    'deactivated',
  ],
  [
    'compromised before it expires',
    { ...revoked('compromised'), expiresMs: NOW + 5 },
    'compromised',
  ],
];

/** How a key is presented, and whether it is then recognised. */
const WAYS = [
  ['with its proof', { proof: true, row: true, retired: false }, 'passed'],
  ['without its proof', { proof: false, row: true, retired: false }, 'passed'],
  [
    'with its proof after its row was pruned',
    { proof: true, row: false, retired: false },
    'passed',
  ],
  [
    'without its proof after its row was pruned',
    { proof: false, row: false, retired: false },
    'failed',
  ],
  ['with its proof under a retired secret', { proof: true, row: true, retired: true }, 'passed'],
  [
    'with its proof under a retired secret after its row was pruned',
    { proof: true, row: false, retired: true },
    'unconfirmed',
  ],
] as const;

interface Way {
  readonly proof: boolean;
  readonly row: boolean;
  readonly retired: boolean;
}

const RETIREMENT: Retirement = { retiredMs: NOW - 1, compromisedMs: null };

/** A ledger that knows a key in this way and state, under the current version. */
function ledgerOf(key: Buffer, { row, retired }: Way, end: KeyEnd | null): LedgerStore {
  const { digest } = ring.commit(key);
  const isKey = (one: Commitment) => one.version === 2 && digest.equals(one.digest);
  const [first, second] = ownChecks(ring).values();
  const store: Partial<LedgerStore> = {
    commit: async (requests) => requests.map(() => ({ kind: 'committed', usage })),
    findCommitments: async (asked) => asked.map((one) => (row && isKey(one) ? 1 : null)),
    findStates: async (asked) =>
      asked.map((one) => (end && isKey(one) ? { keyId: randomBytes(16), ...end } : null)),
    secretChecks: async () =>
      new Map([
        [1, { ...first, retirement: null }],
        [2, { ...second, retirement: retired ? RETIREMENT : null }],
      ]),
  };
  return store as LedgerStore;
}

async function validate(store: LedgerStore, key: Uint8Array, proof: string | undefined) {
  const plain = fakePlainGenerator(fakeGenerator(new RecordingDrbg()));
  const task: KeyTask = { kind: 'validate', requester, key: Buffer.from(key), proof };
  const worker = new KeyWorker(plain, ring, store);
  const { results } = await worker.run({ id: 1, tasks: [task], failures: [] });
  assert.ok(results[0]?.kind === 'validated');
  return results[0].verdict;
}

describe('the verdict on a key', () => {
  for (const [state, end, status] of STATES) {
    for (const [how, way, proofVerification] of WAYS) {
      it(`that is ${state}, ${how}`, async () => {
        const key = randomBytes(32);
        const store = ledgerOf(key, way, end);
        const verdict = await validate(store, key, way.proof ? ring.makeProof(key) : undefined);
        const isKnown = proofVerification === 'passed';
        assert.deepEqual(
          [verdict.keyFormat, verdict.entropyCheck, verdict.proofVerification],
          ['valid', 'passed', proofVerification],
        );
        assert.equal(verdict.keyStatus, isKnown ? status : null);
        assert.equal(verdict.valid, isKnown && status === 'active');
        const unknown = proofVerification === 'unconfirmed' ? 'unconfirmed' : 'not_recognised';
        const word = status === 'active' ? 'valid' : status;
        assert.equal(validationWord(verdict), isKnown ? word : unknown);
      });
    }
  }

  it('has no status if the key is malformed, foreign, or has the proof of another', async () => {
    const [key, other] = [randomBytes(32), randomBytes(32)];
    const store = ledgerOf(key, { proof: true, row: true, retired: false }, revoked('compromised'));
    for (const proof of [undefined, ring.makeProof(key)]) {
      const verdict = await validate(store, other, proof);
      assert.deepEqual([verdict.valid, verdict.keyStatus], [false, null]);
      assert.equal(validationWord(verdict), 'not_recognised');
    }
  });

  it('on a key that is not random names that first, whatever its state', async () => {
    const zeros = Buffer.alloc(32);
    const way = { proof: true, row: true, retired: false };
    const store = ledgerOf(zeros, way, revoked('compromised'));
    const verdict = await validate(store, zeros, ring.makeProof(zeros));
    assert.deepEqual([verdict.valid, verdict.keyStatus], [false, 'compromised']);
    assert.equal(validationWord(verdict), 'not_random');
  });

  it('is not given if the states cannot be read', async () => {
    const key = randomBytes(32);
    const store: LedgerStore = {
      ...ledgerOf(key, { proof: true, row: true, retired: false }, null),
      findStates: async () => {
        throw new Error('away');
      },
    };
    const plain = fakePlainGenerator(fakeGenerator(new RecordingDrbg()));
    const proof = ring.makeProof(key);
    const task: KeyTask = { kind: 'validate', requester, key: Buffer.from(key), proof };
    const { results } = await new KeyWorker(plain, ring, store).run({
      ...{ id: 1, tasks: [task], failures: [] },
    });
    assert.equal(results[0]?.kind, 'failed');
  });
});
