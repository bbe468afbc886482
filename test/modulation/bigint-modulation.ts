/**
 * Prime Harmonic Modulation in BigInt, literally as docs/prime-harmonic-modulation.md defines it,
 * and its inverse. It is the oracle of the differential tests and shares no code with
 * src/modulation.
 */
import type { ModulationType } from '../../src/modulation/index.ts';

const TWO_64 = 1n << 64n;
const PRIMES: readonly bigint[] = [2n, 3n, 5n, 7n, 11n, 13n, 17n, 19n];

/** ⌊√n⌋ by Newton's method. */
function integerSquareRoot(n: bigint): bigint {
  let x = n;
  let next = (x + 1n) / 2n;
  while (next < x) {
    x = next;
    next = (x + n / x) / 2n;
  }
  return x;
}

/** ω_p = ⌊2^64 · frac(√p)⌋: the 64 bits after the binary point of √p = √(p·2^128) / 2^64. */
export const FREQUENCIES: readonly bigint[] = PRIMES.map(
  (p) => integerSquareRoot(p << 128n) % TWO_64,
);

type Combine = (word: bigint, mask: bigint) => bigint;

const FORWARD: Readonly<Record<ModulationType, Combine>> = {
  phase: (C, M) => C ^ M,
  frequency: (C, M) => rotateLeft(C, M % 64n),
  amplitude: (C, M) => (C + M) % TWO_64,
  none: (C) => C,
};

const INVERSE: Readonly<Record<ModulationType, Combine>> = {
  phase: (K, M) => K ^ M,
  frequency: (K, M) => rotateLeft(K, 64n - (M % 64n)),
  amplitude: (K, M) => (K - M + TWO_64) % TWO_64,
  none: (K) => K,
};

export function literalModulate(
  type: ModulationType,
  phases: Uint8Array,
  carrier: Uint8Array,
  firstWord: number,
): Buffer {
  return combine(FORWARD[type], phases, carrier, firstWord);
}

export function literalDemodulate(
  type: ModulationType,
  phases: Uint8Array,
  modulated: Uint8Array,
  firstWord: number,
): Buffer {
  return combine(INVERSE[type], phases, modulated, firstWord);
}

function combine(f: Combine, phases: Uint8Array, words: Uint8Array, firstWord: number): Buffer {
  const theta = readWords(phases);
  const combined = readWords(words).map((word, i) => {
    const t = BigInt(firstWord + i);
    const M = FREQUENCIES.reduce((xor, omega, p) => xor ^ ((theta[p] + t * omega) % TWO_64), 0n);
    return f(word, M);
  });
  const bytes = Buffer.alloc(words.length);
  for (const [i, word] of combined.entries()) bytes.writeBigUInt64BE(word, i * 8);
  return bytes;
}

function readWords(bytes: Uint8Array): bigint[] {
  const buffer = Buffer.from(bytes);
  return Array.from({ length: bytes.length / 8 }, (_, i) => buffer.readBigUInt64BE(i * 8));
}

function rotateLeft(word: bigint, distance: bigint): bigint {
  return ((word << distance) | (word >> (64n - distance))) % TWO_64;
}
