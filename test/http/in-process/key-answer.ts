/** The text of responses with keys, against `JSON.stringify` of objects with the same members. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatTimestamp, HOUR_MS } from '../../../src/clock.ts';
import { SOURCE_NAMES, sourceKind } from '../../../src/entropy/index.ts';
import { RECEIPT } from '../../../src/http/openapi/receipt-example.ts';
import { SEALED_KEY } from '../../../src/http/openapi/sealed-example.ts';
import {
  joinedText,
  plainText,
  type ReceiptFields,
  sealedText,
} from '../../../src/http/wire/key-answer.ts';
import type {
  Evidence,
  KeyFacts,
  KeyOrder,
  ReleasedKey,
  SealedResponseKey,
} from '../../../src/keys/index.ts';
import { order } from '../../support/servers/fakes.ts';
import { CODE_POINTS } from '../../support/texts/code-points.ts';

const { sealed_key } = SEALED_KEY;

const DELIVERY_ID = 'd1d1d1d1-d1d1-d1d1-d1d1-d1d1d1d1d1d1';

function factsOf(asked: KeyOrder, key: KeyFacts, createdMs: number) {
  return {
    security_level: asked.securityLevel,
    security_strength_bits: key.securityStrengthBits,
    entropy_bits: key.entropyBits,
    latency_ms: Math.round(key.latencyMs * 1000) / 1000,
    timestamp: formatTimestamp(createdMs),
    source: asked.source,
    quantum_hardware: sourceKind(asked.source) === 'quantum-hardware',
    entropy_job_id: key.entropyJobId,
  };
}

function verdictOf({ evidence }: KeyFacts) {
  return (
    evidence && {
      nist_validation: {
        certification_status: 'PASS',
        tests_passed: evidence.testsPassed,
        total_tests: evidence.totalTests,
        compliance_level: evidence.complianceLevel,
      },
      nist_score: evidence.score,
      nist_grade: evidence.grade,
    }
  );
}

const plainObject = (
  asked: KeyOrder,
  key: ReleasedKey,
  createdMs: number,
  receipt: ReceiptFields | undefined,
) => ({
  key_id: key.keyId,
  key: Buffer.from(key.key).toString('hex'),
  ...factsOf(asked, key, createdMs),
  hash_proof: key.hashProof,
  ...verdictOf(key),
  ...receipt,
  ...(receipt && key.opening && { opening: Buffer.from(key.opening).toString('base64') }),
});

const sealedObject = (
  asked: KeyOrder,
  key: SealedResponseKey,
  createdMs: number,
  delivery: object | undefined,
) => ({
  key_id: key.keyId,
  ...factsOf(asked, key, createdMs),
  ...(key.sealedKeys.length === 1 && !delivery
    ? { sealed_key: key.sealedKeys[0] }
    : { sealed_keys: key.sealedKeys }),
  ...(delivery && { delivery }),
  ...verdictOf(key),
});

const answerOf = (keys: readonly object[], createdMs: number, isBatch: boolean) =>
  isBatch
    ? { success: true, timestamp: formatTimestamp(createdMs), count: keys.length, keys }
    : { success: true, ...keys[0] };

const evidence: fc.Arbitrary<Evidence> = fc.record({
  testsPassed: fc.nat(15),
  totalTests: fc.nat(15),
  complianceLevel: fc.constantFrom('CERTIFICATION_READY', 'REVIEW', 'NON_COMPLIANT'),
  score: fc.nat(100),
  grade: fc.constantFrom('A', 'B', 'F'),
}) as never;
const facts = {
  keyId: fc.bigInt(1n, 2n ** 128n - 1n).map((id) => `phm_${id}`),
  securityStrengthBits: fc.constantFrom(128, 256),
  entropyBits: fc.double({ min: 0, max: 384, noNaN: true }),
  // The provider of the source chooses it.
  entropyJobId: fc.option(fc.string({ unit: CODE_POINTS })),
  evidence: fc.option(evidence),
  report: fc.constant(null),
  latencyMs: fc.double({ min: 0, max: 30_000, noNaN: true }),
};
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const plainKey: fc.Arbitrary<ReleasedKey> = fc.record({
  ...facts,
  key: fc.constantFrom(16, 32, 48).chain(bytes),
  opening: fc.option(bytes(32)),
  hashProof: fc.bigInt(10n ** 77n, 2n ** 256n).map((proof) => `proof_${proof}`),
  answerDigest: bytes(16),
});
const sealedKey: fc.Arbitrary<SealedResponseKey> = fc.record({
  ...facts,
  sealedKeys: fc.integer({ min: 1, max: 8 }).map((count) => Array(count).fill(sealed_key)),
});
const asked = fc
  .record({
    securityLevel: fc.constantFrom(128, 256, 384),
    source: fc.constantFrom(...SOURCE_NAMES),
  })
  .map((changes) => order(changes as Partial<KeyOrder>));
const time = fc.integer({ min: 0, max: Date.UTC(2100, 0) });
const receipt = fc.record({ receipt: fc.constantFrom(RECEIPT, null), receipt_url: fc.string() });
const warnings = fc.option(
  fc.array(
    fc.record({
      code: fc.constant('unknown_field' as const),
      pointer: fc.string(),
      detail: fc.string({ unit: CODE_POINTS }),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  { nil: undefined },
);
const several = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 3 });

describe('the text of a response', () => {
  it('is the JSON of an object with its members, for plain keys', () => {
    const pairs = several(fc.tuple(plainKey, receipt));
    fc.assert(
      fc.property(
        asked,
        pairs,
        time,
        fc.boolean(),
        fc.boolean(),
        warnings,
        (ordered, all, createdMs, isBatch, withReceipts, warned) => {
          const keys = all.map(([key]) => key);
          const receipts = (withReceipts ? all.map(([, one]) => one) : []) as ReceiptFields[];
          const objects = keys.map((key, i) => plainObject(ordered, key, createdMs, receipts[i]));
          const expected = { ...answerOf(objects, createdMs, isBatch), warnings: warned };
          const text = plainText(ordered, keys, createdMs, isBatch, receipts, warned);
          assert.equal(text, JSON.stringify(expected));
        },
      ),
    );
  });

  it('is the JSON of an object with its members, for sealed keys, also after receipts join', () => {
    const pairs = several(fc.tuple(sealedKey, receipt));
    fc.assert(
      fc.property(
        asked,
        pairs,
        time,
        fc.boolean(),
        fc.boolean(),
        warnings,
        (ordered, all, createdMs, isBatch, isDelivered, warned) => {
          const keys = all.map(([key]) => key);
          const ids = keys.map(() => Buffer.alloc(16, 0xd1));
          const delivery = isDelivered ? { ids, context: null, forMs: HOUR_MS } : null;
          const until = formatTimestamp(createdMs + HOUR_MS);
          const delivered = delivery ? { id: DELIVERY_ID, until } : undefined;
          const objects = keys.map((key) => sealedObject(ordered, key, createdMs, delivered));
          const text = sealedText({ order: ordered, isBatch, delivery }, keys, createdMs);
          assert.equal(text, JSON.stringify(answerOf(objects, createdMs, isBatch)));
          const receipts = all.map(([, one]) => one) as ReceiptFields[];
          const joined = objects.map((object, i) => ({ ...object, ...receipts[i] }));
          const expected = { ...answerOf(joined, createdMs, isBatch), warnings: warned };
          const joint = joinedText(
            text,
            isBatch,
            isBatch ? receipts : receipts.slice(0, 1),
            warned,
          );
          assert.equal(joint, JSON.stringify(expected));
        },
      ),
    );
  });
});
