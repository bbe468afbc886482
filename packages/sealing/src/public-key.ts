/** Checks of public keys that come from outside. */
import { sha256 } from './hash.ts';
import { type SealSuiteName, suiteOf } from './suites.ts';

/** FIPS 203 §2.3: the modulus of ML-KEM. */
const Q = 3329;

/** Bytes of the ML-KEM polynomial vector, 384 for each of its k polynomials; the 32-byte seed of the matrix follows. */
const VECTOR_BYTES: Readonly<Record<SealSuiteName, number>> = {
  'MLKEM768-X25519': 3 * 384,
  'ML-KEM-1024': 4 * 384,
};

const X25519_BYTES = 32;

/**
 * The u-coordinates of the points of small order, and those of them that are not reduced, least significant byte first:
 * 0, 1, two of order 8, p − 1, p and p + 1 with p = 2^255 − 19. They give an all-zero shared secret (RFC 7748 §6.1).
 * Test: every one of them does, with and without the high bit.
 */
const LOW_ORDER_POINTS: readonly string[] = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

/**
 * Returns a sentence that says why nothing must be sealed to this public key, or null. Node and Go accept an all-zero
 * polynomial vector, although anyone can open what is sealed to it.
 */
export function publicKeyProblem(suite: SealSuiteName, publicKey: Uint8Array): string | null {
  const { publicKeyBytes } = suiteOf(suite);
  if (publicKey.length !== publicKeyBytes) {
    return `A public key of ${suite} has ${publicKeyBytes} bytes, and this one has ${publicKey.length}.`;
  }
  const vector = publicKey.subarray(0, VECTOR_BYTES[suite]);
  if (vector.every((byte) => byte === 0)) {
    return 'The ML-KEM part of this public key is zero: anyone could open what is sealed to it.';
  }
  if (!isReduced(vector)) {
    return 'This is not a public key: its ML-KEM part has a coefficient above 3328 (FIPS 203 §7.2).';
  }
  if (suite === 'MLKEM768-X25519' && isLowOrder(publicKey.subarray(-X25519_BYTES))) {
    return 'The X25519 part of this public key is a point of small order: its secret is known to all.';
  }
  return null;
}

/** FIPS 203 §7.2, modulus check: each 12-bit coefficient is below q. */
function isReduced(vector: Uint8Array): boolean {
  for (let i = 0; i < vector.length; i += 3) {
    const [low = 0, middle = 0, high = 0] = vector.subarray(i, i + 3);
    if ((low | ((middle & 15) << 8)) >= Q || ((middle >> 4) | (high << 4)) >= Q) return false;
  }
  return true;
}

/** RFC 7748 §5: X25519 ignores the high bit of the last byte. */
function isLowOrder(point: Uint8Array): boolean {
  const digits = Array.from(point, (byte, i) =>
    (i === X25519_BYTES - 1 ? byte & 0x7f : byte).toString(16).padStart(2, '0'),
  );
  return LOW_ORDER_POINTS.includes(digits.join(''));
}

/** Returns the thumbprint of a public key: the SHA-256 of its raw serialisation, 32 bytes. */
export function thumbprintOf(publicKey: Uint8Array): Promise<Uint8Array> {
  return sha256(publicKey);
}
