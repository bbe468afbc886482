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

/**
 * Fewest different coefficients of a public key. A generated one has about 680 or more, and fewer than these with a
 * probability below 2^-1000. A vector that is zero, or was filled in part, or repeats a pattern has fewer.
 */
const MIN_DIFFERENT = 256;

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
 * Returns a sentence that says why nothing must be sealed to this public key, or null. Node and Go accept a polynomial
 * vector of zeros or of few values, although anyone can open what is sealed to it.
 */
export function publicKeyProblem(suite: SealSuiteName, publicKey: Uint8Array): string | null {
  const { publicKeyBytes } = suiteOf(suite);
  if (publicKey.length !== publicKeyBytes) {
    return `A public key of ${suite} has ${publicKeyBytes} bytes, and this one has ${publicKey.length}.`;
  }
  const { largest, different } = survey(coefficientsOf(publicKey.subarray(0, VECTOR_BYTES[suite])));
  // FIPS 203 §7.2, modulus check.
  if (largest >= Q) {
    return 'This is not a public key: its ML-KEM part has a coefficient above 3328 (FIPS 203 §7.2).';
  }
  if (different < MIN_DIFFERENT) {
    return 'The ML-KEM part of this public key is not random: anyone could open what is sealed to it.';
  }
  if (suite === 'MLKEM768-X25519' && isLowOrder(publicKey.subarray(-X25519_BYTES))) {
    return 'The X25519 part of this public key is a point of small order: its secret is known to all.';
  }
  return null;
}

/** Returns the coefficients of a vector: 12 bits each, lowest first (FIPS 203 §4.2.1, ByteDecode). */
function coefficientsOf(vector: Uint8Array): Uint16Array {
  const coefficients = new Uint16Array((vector.length / 3) * 2);
  for (let i = 0, at = 0; at < vector.length; i += 2, at += 3) {
    const middle = vector[at + 1] as number;
    coefficients[i] = (vector[at] as number) | ((middle & 15) << 8);
    coefficients[i + 1] = (middle >> 4) | ((vector[at + 2] as number) << 4);
  }
  return coefficients;
}

/** Returns the largest coefficient, and the number of different ones. */
function survey(coefficients: Uint16Array): {
  readonly largest: number;
  readonly different: number;
} {
  const isSeen = new Uint8Array(2 ** 12);
  let [largest, different] = [0, 0];
  for (const coefficient of coefficients) {
    if (coefficient > largest) largest = coefficient;
    // Added without a branch, which random coefficients would mispredict: 15 → 10 µs a public key.
    different += 1 - (isSeen[coefficient] as number);
    isSeen[coefficient] = 1;
  }
  return { largest, different };
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
