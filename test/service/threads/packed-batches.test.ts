/** Packed batches and replies arrive as what was sent, and leave no key bytes behind. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import fc from 'fast-check';
import { type KeyOrder, type ReleasedKey, SECURITY_LEVELS } from '../../../src/keys/order.ts';
import type {
  KeyBatch,
  KeyBatchReply,
  KeyTask,
  KeyTaskResult,
  Requester,
} from '../../../src/service/threads/messages.ts';
import {
  packBatch,
  packReply,
  unpackBatch,
  unpackReply,
} from '../../../src/service/threads/packed-batches.ts';
import { order as keyOrder, plainKey } from '../../support/servers/fakes.ts';

/** An arbitrary for each field: a new field fails to compile until it is here, and then must be packed. */
type Fields<T> = { readonly [K in keyof T]-?: fc.Arbitrary<T[K]> };

const time = fc.double({ min: 0, max: 2 ** 42, noNaN: true });

const order: Fields<KeyOrder> = {
  securityLevel: fc.constantFrom(...SECURITY_LEVELS),
  modulation: fc.constantFrom('none', 'phase', 'amplitude'),
  source: fc.constantFrom('os', 'quantum-simulator'),
  withEvidence: fc.boolean(),
  report: fc.boolean(),
  receipt: fc.boolean(),
  labels: fc.option(fc.constantFrom('{"a":"b"}', '{"a":"null null"}')),
  expiresMs: fc.option(fc.nat()),
  acceptedMs: time,
};

const requester: Fields<Requester> = {
  accountId: fc.constantFrom('acct_1', 'acct_2'),
  apiKeyId: fc.constantFrom('key_1', 'key_2'),
  atMs: time,
  apiKeyLimit: fc.constant({ counterId: 'key_1', limit: 7 }),
};

const idempotency = fc.record({
  key: fc.string(),
  requestHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
});

const task: fc.Arbitrary<KeyTask> = fc.oneof(
  fc.record({
    kind: fc.constant('generate' as const),
    requester: fc.record(requester, { requiredKeys: ['accountId', 'apiKeyId', 'atMs'] }),
    order: fc.record(order),
    idempotency: fc.option(idempotency),
  }),
  fc.constant({ kind: 'flush' as const }),
  fc.record({ kind: fc.constant('gather_evidence' as const), isLast: fc.boolean() }),
);

/** Bytes of a key. None is zero, so that wiped bytes show. */
const bytes = (length: number) =>
  fc.array(fc.integer({ min: 1, max: 255 }), { minLength: length, maxLength: length });

/** A key with its bytes as numbers: fast-check keeps its values, and keys are wiped. */
type KeyNumbers = Omit<ReleasedKey, 'key' | 'opening' | 'answerDigest'> & {
  key: number[];
  opening: number[] | null;
  answerDigest: number[];
};

const released: Fields<KeyNumbers> = {
  keyId: fc.string(),
  hashProof: fc.string(),
  securityStrengthBits: fc.nat(384),
  entropyBits: fc.double({ min: 0, max: 384, noNaN: true }),
  entropyJobId: fc.option(fc.string(), { freq: 5 }),
  evidence: fc.constant(null),
  report: fc.constant(null),
  latencyMs: time,
  key: fc.oneof(bytes(16), bytes(32), bytes(48)),
  opening: fc.option(bytes(32)),
  answerDigest: bytes(16),
};

const usage = fc.record(
  {
    month: fc.nat(40_000),
    used: fc.maxSafeNat(),
    quota: fc.option(fc.maxSafeNat()),
    counterId: fc.constant('key_1'),
  },
  { requiredKeys: ['month', 'used', 'quota'] },
);

const result = fc.oneof(
  fc.record({
    kind: fc.constant('generated' as const),
    createdMs: time,
    keys: fc.array(fc.record(released), { minLength: 1, maxLength: 2 }),
    usage,
    failures: fc.nat(),
  }),
  fc.constant({ kind: 'evidence_pending' as const }),
  fc.constant({ kind: 'account_locked' as const, again: null }),
  fc.record({ kind: fc.constant('quota_exceeded' as const), usage }),
);

type ResultNumbers = typeof result extends fc.Arbitrary<infer T> ? T : never;

/** Returns bytes in separate memory, as generators make them. */
function toBytes(numbers: readonly number[]): Buffer<ArrayBuffer> {
  const made = Buffer.from(new ArrayBuffer(numbers.length));
  made.set(numbers);
  return made;
}

function toResult(one: ResultNumbers): KeyTaskResult {
  if (one.kind !== 'generated') return one;
  const keys = one.keys.map(({ key, opening, answerDigest, ...facts }) => ({
    ...facts,
    key: toBytes(key),
    answerDigest: toBytes(answerDigest),
    opening: opening && toBytes(opening),
  }));
  return { ...one, keys };
}

const status = { reseeds: 3, strengthBits: 256, latched: null, sources: [] };
const rest = { id: 7, failuresRecorded: true, commit: null, status, awaitsVerdict: false };

/** Sends a message as threads do, and returns what arrives. */
function sent<T>(message: T, transfer: ArrayBuffer[] = []): T {
  const { port1, port2 } = new MessageChannel();
  try {
    port1.postMessage(message, transfer);
    return receiveMessageOnPort(port2)?.message as T;
  } finally {
    port1.close();
  }
}

/** Returns a value with byte strings as text: threads receive `Uint8Array` for `Buffer`. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

const secretsOf = ({ results }: KeyBatchReply): Uint8Array[] =>
  results.flatMap((one) =>
    one.kind === 'generated'
      ? one.keys.flatMap(({ key, opening }) => [key, ...(opening ? [opening] : [])])
      : [],
  );

describe('a packed batch', () => {
  it('arrives with the tasks that were sent', () => {
    fc.assert(
      fc.property(fc.array(task, { maxLength: 12 }), (tasks) => {
        const batch: KeyBatch = { id: 7, tasks, failures: [] };
        const expected = plain(batch);
        assert.deepEqual(plain(unpackBatch(sent(packBatch(batch)))), expected);
      }),
    );
  });

  it('names a requester and an order once', () => {
    const one = (atMs: number): KeyTask => ({
      kind: 'generate',
      requester: { accountId: 'acct_1', apiKeyId: 'key_1', atMs },
      order: keyOrder({ acceptedMs: atMs }),
      idempotency: null,
    });
    const { forms, others } = packBatch({ id: 7, tasks: [one(1), one(2), one(3)], failures: [] });
    assert.deepEqual([forms.length, others.length], [1, 0]);
  });
});

describe('a packed reply', () => {
  it('arrives with the results that were sent, and leaves no key bytes behind', () => {
    fc.assert(
      fc.property(fc.array(result, { maxLength: 12 }), (ones) => {
        const reply: KeyBatchReply = { ...rest, results: ones.map(toResult) };
        const expected = plain(reply);
        const secrets = secretsOf(reply);
        const packed = packReply(reply);
        const arrived = unpackReply(sent(packed, [packed.keys.secrets]));
        assert.deepEqual(plain(arrived), expected);
        assert.ok(
          secrets.every((one) => one.byteLength === 0 || one.every((byte) => byte === 0)),
          'wiped, or transferred and therefore empty',
        );
        assert.equal(packed.keys.secrets.byteLength, 0);
      }),
    );
  });

  it('has keys that are wiped one by one', () => {
    const key = (byte: number) =>
      plainKey({ key: Buffer.alloc(32, byte), opening: Buffer.alloc(32, byte) });
    const results = [1, 2].map(
      (byte): KeyTaskResult => ({
        kind: 'generated',
        createdMs: 0,
        keys: [key(byte)],
        usage: { month: 1, used: 1, quota: null },
        failures: 0,
      }),
    );
    const [first, , second] = secretsOf(unpackReply(packReply({ ...rest, results })));
    first?.fill(0);
    assert.deepEqual(second, Buffer.alloc(32, 2));
  });
});
