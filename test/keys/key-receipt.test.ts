/** The commitment to a key that its receipt states. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { keyCommitmentMessage } from '#tlog';
import { hexToBytes } from '../../src/bytes.ts';
import { formatKeyId, newKeyId } from '../../src/keys/key-id.ts';
import { commitToKey, keyCommitment, wipeKey } from '../../src/keys/key-receipt.ts';
import { formatSources, parseSources } from '../../src/keys/sources-text.ts';

interface Vector {
  tcId: number;
  comment: string;
  opening: string;
  key: string;
  commitment: string;
  keyId: string;
  result: 'valid' | 'invalid';
}

const VECTORS: {
  numberOfTests: number;
  testGroups: { bits: number; tests: Vector[] }[];
} = JSON.parse(
  readFileSync(new URL('../vectors/receipt/key-commitments.json', import.meta.url), 'utf8'),
);

/** Reports whether the opening opens the commitment. */
function opens({ opening, key, commitment, keyId }: Vector): boolean {
  const openingBytes = hexToBytes(opening);
  if (openingBytes.length !== 32) {
    assert.throws(() => keyCommitment(openingBytes, keyId, hexToBytes(key)), {
      name: 'TypeError',
      message: `"opening" expected Uint8Array of length 32, got length=${openingBytes.length}`,
    });
    return false;
  }
  return keyCommitment(openingBytes, keyId, hexToBytes(key)).toString('hex') === commitment;
}

/** Commits to a key and keeps the opening. */
function committed(key: Uint8Array, keyId: string) {
  const { opening, receipt } = commitToKey(key, keyId, [{ name: 'os', creditBits: 256 }], true);
  assert.ok(opening);
  return { opening, receipt };
}

describe('the commitment to a key', () => {
  it('has the stated number of test vectors', () => {
    const count = VECTORS.testGroups.reduce((sum, { tests }) => sum + tests.length, 0);
    assert.equal(count, VECTORS.numberOfTests);
  });

  for (const { bits, tests } of VECTORS.testGroups) {
    for (const vector of tests) {
      it(`gives vector ${vector.tcId}, ${bits} bits: ${vector.comment}`, () => {
        assert.equal(opens(vector), vector.result === 'valid');
      });
    }
  }

  it('is HMAC-SHA-256 over the message of a receipt, for any opening, key ID and key', () => {
    const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    fc.assert(
      fc.property(
        bytesOf(32),
        bytesOf(16),
        fc.constantFrom(16, 32, 48).chain(bytesOf),
        (opening, id, key) => {
          const keyId = formatKeyId(id);
          const message = keyCommitmentMessage(8 * key.length, keyId, key);
          const expected = createHmac('sha256', opening).update(message).digest();
          assert.deepEqual(keyCommitment(opening, keyId, key), expected);
        },
      ),
    );
  });

  it('is opened by the opening alone, which is new for each key', () => {
    const key = Buffer.alloc(32, 5);
    const [keyId, otherId] = [newKeyId(), newKeyId()].map(formatKeyId);
    const { opening, receipt } = committed(key, keyId);
    const commitment = Buffer.from(receipt.keyCommitment);
    assert.deepEqual(keyCommitment(opening, keyId, key), commitment);
    assert.notDeepEqual(keyCommitment(opening, otherId, key), commitment);
    const again = committed(key, keyId);
    assert.notDeepEqual(again.opening, opening);
    assert.notDeepEqual(again.receipt.salt, receipt.salt);
    assert.notDeepEqual(Buffer.from(receipt.salt), Buffer.from(opening));
  });

  it('has its opening in separate memory, which can be transferred and wiped', () => {
    const key = Buffer.alloc(16, 5);
    const { opening } = committed(key, formatKeyId(newKeyId()));
    assert.equal(opening.buffer.byteLength, 32);
    assert.ok(opening.some((byte) => byte !== 0));
    const answerDigest = Buffer.alloc(16, 6);
    wipeKey({ key, opening, answerDigest });
    assert.ok([...key, ...opening, ...answerDigest].every((byte) => byte === 0));
  });

  it('keeps no opening that is not asked for', () => {
    const { opening, receipt } = commitToKey(Buffer.alloc(16, 5), 'phm_1', [], false);
    assert.equal(opening, null);
    assert.notDeepEqual(receipt.salt, Buffer.alloc(32));
  });
});

describe('the text of the sources', () => {
  it('gives names and credits back', () => {
    const name = fc.constantFrom('os', 'jitter', 'quantum-simulator', 'ibm-quantum', 'qrng');
    const creditBits = fc.double({ min: 0, max: 1e6, noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(fc.array(fc.record({ name, creditBits }), { minLength: 1 }), (sources) => {
        const read = parseSources(formatSources(sources as never));
        assert.deepEqual(
          read,
          sources.map((one) => ({ name: one.name, creditBits: one.creditBits + 0 })),
        );
      }),
    );
    const drawn = [
      { name: 'os', creditBits: 256 },
      { name: 'jitter', creditBits: 12.5 },
    ] as const;
    assert.equal(formatSources(drawn), 'os:256,jitter:12.5');
  });
});
