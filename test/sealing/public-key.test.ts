/** Public keys from outside: every one that would not protect the key is refused. */
import assert from 'node:assert/strict';
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  randomBytes,
} from 'node:crypto';
import { describe, it } from 'node:test';
import { ml_kem768, ml_kem1024 } from '@noble/post-quantum/ml-kem.js';
import {
  newRecipient,
  publicKeyProblem,
  SEAL_SUITES,
  SealError,
  type SealSuiteName,
  seal,
  thumbprintOf,
} from '#sealing';
import { contentOf } from './order.ts';

const Q = 3329;
const VECTOR_BYTES = { 'MLKEM768-X25519': 1152, 'ML-KEM-1024': 1536 } as const;
const NAMES = SEAL_SUITES.map(({ name }) => name);

/** p = 2^255 − 19, and the u-coordinates of small order (RFC 7748 §6.1 wants the zero that they give refused). */
const P = 2n ** 255n - 19n;
const LOW_ORDER = [
  0n,
  1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  P - 1n,
];

function littleEndian(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
}

/** Every encoding of the points: values up to 2^255 that are the same modulo p, with and without the high bit. */
const ENCODINGS = LOW_ORDER.flatMap((u) => [u, u + P])
  .filter((u) => u < 2n ** 255n)
  .flatMap((u) => [littleEndian(u), littleEndian(u + 2n ** 255n)]);

/** Returns a public key of the suite, changed. */
async function changed(
  suite: SealSuiteName,
  change: (publicKey: Uint8Array) => void,
): Promise<Uint8Array> {
  const { publicKey } = await newRecipient(suite);
  change(publicKey);
  return publicKey;
}

/** Sets the coefficient at `index`: 12 bits, the lowest first. */
function setCoefficient(publicKey: Uint8Array, index: number, value: number): void {
  const at = Math.floor(index / 2) * 3;
  const [low = 0, middle = 0, high = 0] = publicKey.subarray(at, at + 3);
  const pair =
    index % 2 === 0
      ? [value & 255, (middle & 0xf0) | (value >> 8), high]
      : [low, (middle & 15) | ((value & 15) << 4), value >> 4];
  publicKey.set(pair, at);
}

describe('publicKeyProblem', () => {
  for (const suite of NAMES) {
    it(`accepts a generated key: ${suite}`, async () => {
      const { publicKey } = await newRecipient(suite);
      assert.equal(publicKeyProblem(suite, publicKey), null);
    });

    it(`refuses another length: ${suite}`, async () => {
      const { publicKey } = await newRecipient(suite);
      for (const wrong of [
        publicKey.subarray(1),
        new Uint8Array([...publicKey, 0]),
        new Uint8Array(),
      ]) {
        assert.match(publicKeyProblem(suite, wrong) ?? '', /has \d+ bytes, and this one has \d+\./);
      }
    });

    it(`refuses every coefficient from 3329 on (FIPS 203 §7.2): ${suite}`, async () => {
      const count = (VECTOR_BYTES[suite] / 3) * 2;
      for (const index of [0, 1, 2, 255, 256, count - 2, count - 1]) {
        for (const value of [Q, Q + 1, 4095]) {
          const publicKey = await changed(suite, (key) => setCoefficient(key, index, value));
          assert.match(publicKeyProblem(suite, publicKey) ?? '', /coefficient above 3328/);
        }
        const largest = await changed(suite, (key) => setCoefficient(key, index, Q - 1));
        assert.equal(publicKeyProblem(suite, largest), null);
      }
    });

    it(`refuses a polynomial vector of zeros, of few values, or filled in part: ${suite}`, async () => {
      const count = (VECTOR_BYTES[suite] / 3) * 2;
      const filledWith = (valueAt: (index: number) => number) =>
        changed(suite, (key) => {
          for (let i = 0; i < count; i++) setCoefficient(key, i, valueAt(i));
        });
      for (const valueAt of [
        () => 0,
        (i: number) => (i === 511 ? 1 : 0),
        () => 1,
        () => Q - 1,
        (i: number) => (7 * i) % 255,
        (i: number) => (i < 250 ? 13 * i : 0),
      ]) {
        const problem = publicKeyProblem(suite, await filledWith(valueAt));
        assert.match(problem ?? '', /ML-KEM part of this public key is not random/);
      }
    });

    it(`refuses a vector of ones, which anyone can open without a private key: ${suite}`, async () => {
      const kem = suite === 'ML-KEM-1024' ? ml_kem1024 : ml_kem768;
      const vector = new Uint8Array(VECTOR_BYTES[suite]);
      for (let i = 0; i < (vector.length / 3) * 2; i++) setCoefficient(vector, i, 1);
      const publicKey = Buffer.concat([vector, randomBytes(32)]);
      const { cipherText, sharedSecret } = kem.encapsulate(publicKey);
      // FIPS 203 §7.1: dk_PKE ‖ ek ‖ H(ek) ‖ z. The secret vector is zero, and known to all.
      const hash = createHash('sha3-256').update(publicKey).digest();
      const noSecret = Buffer.concat([
        Buffer.alloc(vector.length),
        publicKey,
        hash,
        Buffer.alloc(32),
      ]);
      assert.deepEqual(kem.decapsulate(cipherText, noSecret), sharedSecret);
      const whole = await changed(suite, (key) => key.set(publicKey));
      assert.match(publicKeyProblem(suite, whole) ?? '', /is not random: anyone could open/);
    });
  }

  it('refuses every encoding of an X25519 point of small order', async () => {
    assert.equal(ENCODINGS.length, 14);
    for (const point of ENCODINGS) {
      const publicKey = await changed('MLKEM768-X25519', (key) => key.set(point, 1184));
      assert.match(publicKeyProblem('MLKEM768-X25519', publicKey) ?? '', /point of small order/);
    }
    const base = await changed('MLKEM768-X25519', (key) => key.fill(0, 1184).set([9], 1184));
    assert.equal(publicKeyProblem('MLKEM768-X25519', base), null);
  });

  it('knows the points that give a zero secret', () => {
    const secret = createPrivateKey({
      key: Buffer.concat([
        Buffer.from('302e020100300506032b656e04220420', 'hex'),
        Buffer.alloc(32, 5),
      ]),
      format: 'der',
      type: 'pkcs8',
    });
    for (const point of ENCODINGS) {
      const key = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), point]);
      const publicKey = createPublicKey({ key, format: 'der', type: 'spki' });
      assert.throws(() => diffieHellman({ privateKey: secret, publicKey }), /failed|derivation/);
    }
  });

  it('refuses an unknown suite', () => {
    assert.throws(() => publicKeyProblem('X' as SealSuiteName, new Uint8Array(1)), {
      name: 'TypeError',
      message: '"suite" expected "MLKEM768-X25519" or "ML-KEM-1024", got "X"',
    });
  });
});

describe('seal', () => {
  it('refuses what publicKeyProblem refuses, although the platform accepts a zero vector', async () => {
    for (const suite of NAMES) {
      const zero = await changed(suite, (key) => key.fill(0, 0, VECTOR_BYTES[suite]));
      await assert.rejects(seal({ suite, publicKey: zero, ...contentOf() }), (error) => {
        assert.ok(error instanceof SealError);
        assert.equal(error.message, publicKeyProblem(suite, zero));
        return true;
      });
    }
  });
});

describe('thumbprintOf', () => {
  it('is the SHA-256 of the raw public key', async () => {
    // FIPS 180-4, example "abc".
    const thumbprint = await thumbprintOf(Buffer.from('abc'));
    assert.equal(
      Buffer.from(thumbprint).toString('hex'),
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});
