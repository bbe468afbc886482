/** What a suite worker packs is what the main thread and the key worker unpack. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ReleasedKey } from '../../../src/keys/order.ts';
import type { LedgerRow, RowReceipt } from '../../../src/ledger/index.ts';
import { NEW_COLUMNS, type Place, rowOf } from '../../../src/ledger/key-columns.ts';
import { NO_DELIVERY, SEAL_BYTES } from '../../../src/ledger/row-seals.ts';
import { packKeys, unpackKeys } from '../../../src/service/threads/packed-keys.ts';
import { packRows, rowCount, unpackRows } from '../../../src/service/threads/packed-rows.ts';
import { plainRow } from '../../support/servers/fakes.ts';

const digest = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const few = fc.integer({ min: 1, max: 2 });
const evidence = fc.record({
  definition: few,
  gateP: fc.double({ noNaN: true }),
  testsPassed: few,
  totalTests: few,
  pValues: fc.uint8Array({ maxLength: 8 }),
  complianceLevel: fc.constant('NIST' as never),
  score: few,
  grade: fc.constant('A' as never),
});

const pending = fc.record({
  logId: few,
  kind: fc.constantFrom('key' as const, 'audit' as const),
  entry: digest,
  mac: digest,
  secretVersion: few,
});

/** The seals of one or two further recipients. */
const further = fc
  .constantFrom(64, 128)
  .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
  .map((bytes) => Buffer.from(bytes));

/** A row of which each member is one of few values, so that some rows have the form of the last one. */
const row = fc
  .record({
    securityLevel: fc.constantFrom(128, 256),
    modulation: fc.constantFrom('phase', 'none'),
    source: fc.constantFrom('os', 'jitter'),
    createdMs: few,
    latencyUs: fc.nat(),
    entropyBits: fc.double({ noNaN: true }),
    entropyJobId: fc.option(fc.constantFrom('job 1', 'job 2')),
    evidence: fc.option(evidence),
    sealed: fc.option(
      fc.record({
        ...{ recipient: digest, digest, further: fc.option(further) },
        ...{
          deliveryId: fc.option(digest.map((bytes) => bytes.subarray(16))),
          deliveryContext: fc.option(digest),
        },
      }),
    ),
    labels: fc.option(fc.constantFrom('{"a":"b"}', '{"a":"c"}')),
    expiresMs: fc.option(few),
    version: few,
    otherVersions: fc.array(few, { maxLength: 2 }),
    receipt: fc.option(
      fc.record({
        keyCommitment: digest,
        salt: digest,
        strengthBits: few,
        sources: fc.constantFrom('os:256', 'os:256,jitter:12.5'),
        softwareId: few,
        pending: fc.option(pending),
      }),
    ),
  })
  .map(({ version, otherVersions, ...members }): LedgerRow => {
    const { keyId, commitment } = plainRow();
    const { receipt } = members;
    return {
      ...{ ...plainRow(), ...members },
      keyId: Buffer.from(keyId),
      commitment: { ...commitment, version },
      otherCommitments: otherVersions.map((other) => {
        const digest = randomBytes(32);
        return { version: other, digest, fingerprint: digest.readBigInt64BE(0) };
      }),
      receipt: receipt && ({ ...receipt, pending: withId(receipt.pending, keyId) } as RowReceipt),
    };
  });

function withId<T>(entry: T | null, keyId: Uint8Array): (T & { entryId: Buffer }) | null {
  return entry && { ...entry, entryId: Buffer.from(keyId) };
}

const key = fc
  .record({
    keyBytes: fc.constantFrom(16, 32, 48),
    hasOpening: fc.boolean(),
    hashProof: fc.string(),
    keyId: fc.string(),
    securityStrengthBits: few,
    entropyBits: few,
    entropyJobId: fc.option(fc.constant('job')),
    evidence: fc.option(evidence),
    report: fc.constant(null),
    latencyMs: fc.double({ noNaN: true }),
  })
  .map(({ keyBytes, hasOpening, ...facts }): ReleasedKey => {
    const opening = hasOpening ? randomBytes(32) : null;
    return { ...facts, key: randomBytes(keyBytes), opening, answerDigest: randomBytes(16) };
  });

/** Returns a row with a value in each column, and with another value in the given one. Only a row without evidence shares a form. */
function rowWith(changed: Place | null, hasEvidence: boolean): LedgerRow {
  const { keyId, commitment, evidence, ...row } = rowOf(({ place, kind }) => {
    const number = place === changed ? 2 : 1;
    if (kind === 'text') return `text ${number}`;
    return kind === 'bytes' ? Buffer.alloc(32, number) : number;
  });
  const { version, digest } = commitment;
  const fingerprint = Buffer.from(digest).readBigInt64BE();
  return {
    ...{ ...row, keyId: keyId.subarray(16), commitment: { version, digest, fingerprint } },
    evidence: hasEvidence ? evidence : null,
  };
}

describe('packed rows', () => {
  it('are the same rows after the way through a port', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 6 }), (rows) => {
        const packed = structuredClone(packRows(rows));
        assert.equal(packed.count, rows.length);
        const unpacked = unpackRows(packed);
        assert.deepEqual(inBuffers(unpacked), inBuffers(rows));
      }),
    );
  });

  it('are the same rows after the way if they differed in the number of recipients alone', () => {
    const numbers = [1, 2, 1, 3, 2, 8, 8, 3];
    const rows = numbers.map((number): LedgerRow => {
      const further = number === 1 ? null : Buffer.alloc((number - 1) * SEAL_BYTES, number);
      const first = { recipient: Buffer.alloc(32, 1), digest: Buffer.alloc(32, 2) };
      return { ...plainRow(), sealed: { ...first, further, ...NO_DELIVERY } };
    });
    const unpacked = unpackRows(structuredClone(packRows(rows)));
    assert.deepEqual(unpacked.map(inBuffers), rows.map(inBuffers));
  });

  it('differ after the way if they differed in one column before', () => {
    for (const { place } of NEW_COLUMNS) {
      const hasEvidence = place.startsWith('evidence.');
      const rows = [null, place, null].map((changed) => rowWith(changed, hasEvidence));
      const [first, other, last] = unpackRows(structuredClone(packRows(rows))).map(inBuffers);
      assert.deepEqual([first, other, last], rows.map(inBuffers), place);
      if (place !== 'commitment.fingerprint') assert.notDeepEqual(first, other, place);
    }
  });

  it('share the form of equal rows', () => {
    const rows = [plainRow(), plainRow(), { ...plainRow(), source: 'jitter' }, plainRow()];
    const packed = packRows(rows);
    assert.equal(packed.forms.length, 3);
    assert.equal(packed.bytes.byteLength, 4 * (16 + 32));
    assert.equal(rowCount([packed, packRows([plainRow()])]), 5);
  });

  it('refuse byte strings of another length', () => {
    assert.throws(() => packRows([{ ...plainRow(), keyId: Buffer.alloc(15) }]), TypeError);
  });
});

describe('packed keys', () => {
  it('are the same keys after the way through a port, and leave nothing behind', () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 6 }), (keys) => {
        const before = keys.map((one) => ({
          ...one,
          key: Buffer.from(one.key),
          opening: one.opening && Buffer.from(one.opening),
          answerDigest: Buffer.from(one.answerDigest),
        }));
        const packed = packKeys(keys);
        for (const { key, opening } of keys) {
          assert.ok([...key, ...(opening ?? [])].every((byte) => byte === 0));
        }
        const moved = structuredClone(packed, { transfer: [packed.secrets] });
        assert.equal(packed.secrets.byteLength, 0);
        assert.deepEqual(inBuffers(unpackKeys(moved)), inBuffers(before));
      }),
    );
  });
});

/** Returns the value with each byte string as hexadecimal, whatever its class. */
function inBuffers(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(inBuffers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inBuffers(one)]));
}
