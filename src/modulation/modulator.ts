/**
 * Prime Harmonic Modulation, version 1: docs/prime-harmonic-modulation.md.
 *
 * The symbols are the document's: θ_p phases, ω_p frequencies, H_p(t) harmonics, M(t) the
 * modulation word, C(t) the carrier and K(t) the key word at index t. A 64-bit word is a pair of
 * 32-bit halves, `hi` and `lo`, because BigInt arithmetic is slow and allocates. The halves are
 * signed integers, since the engine holds unsigned ones above 2^31 as doubles.
 */
import { endianness } from 'node:os';
import { assertLength, wipe } from '../bytes.ts';

export const MODULATION_TYPES = ['phase', 'frequency', 'amplitude', 'none'] as const;
export type ModulationType = (typeof MODULATION_TYPES)[number];
export const DEFAULT_MODULATION: ModulationType = 'phase';

const WORD_BYTES = 8;

/** 512 words. */
const PIECE_HALVES = 1024;

/**
 * ω_p = ⌊2^64 · frac(√p)⌋ for p = 2, 3, 5, 7, 11, 13, 17, 19: high and low halves. They are the
 * initial hash values of SHA-512, FIPS 180-4 §5.3.5.
 */
const OMEGA: readonly (readonly [hi: number, lo: number])[] = [
  [0x6a09_e667, 0xf3bc_c908],
  [0xbb67_ae85, 0x84ca_a73b],
  [0x3c6e_f372, 0xfe94_f82b],
  [0xa54f_f53a, 0x5f1d_36f1],
  [0x510e_527f, 0xade6_82d1],
  [0x9b05_688c, 0x2b3e_6c1f],
  [0x1f83_d9ab, 0xfb41_bd6b],
  [0x5be0_cd19, 0x137e_2179],
];

/** θ_p for the eight primes in ascending order, big-endian 64-bit words. */
export const PHASES_BYTES: number = OMEGA.length * WORD_BYTES;

/** t is a 32-bit unsigned integer. */
const MAX_WORDS: number = 2 ** 32;

/**
 * How K(t) is made of C(t) and M(t), each for many t: `words` holds the halves of C, high
 * first, and becomes those of K; `mask` holds those of M.
 */
const COMBINE: Readonly<Record<ModulationType, (words: Int32Array, mask: Int32Array) => void>> = {
  phase: exclusiveOr,
  frequency: rotateLeft,
  amplitude: addModulo,
  none: () => {},
};

/** One set of phases, good for one stream. */
export class Modulator {
  readonly #type: ModulationType;
  readonly #phases: Buffer = Buffer.alloc(PHASES_BYTES);
  #destroyed = false;

  /** Copies `phases`, 64 bytes; the caller wipes its own. Throws `TypeError` for anything else. */
  constructor(type: ModulationType, phases: Uint8Array) {
    if (!MODULATION_TYPES.includes(type)) {
      throw new TypeError(`"type" expected one of ${MODULATION_TYPES.join(', ')}, got ${type}`);
    }
    assertLength('phases', phases, PHASES_BYTES);
    this.#type = type;
    this.#phases.set(phases);
  }

  /**
   * K(t) for the carrier's words, whose first has index `firstWord`, in memory of its own. Throws
   * `RangeError` unless the carrier is whole words with indices below 2^32.
   */
  modulate(carrier: Uint8Array, firstWord: number): Buffer {
    if (this.#destroyed) throw new Error('the modulator was destroyed and gives no more output');
    assertWords(carrier, firstWord);
    const modulated = Buffer.alloc(carrier.length);
    modulated.set(carrier);
    swapToHostOrder(modulated);
    const words = new Int32Array(modulated.buffer, modulated.byteOffset, carrier.length / 4);
    if (this.#type !== 'none') this.#combine(words, firstWord);
    swapToHostOrder(modulated);
    return modulated;
  }

  /** Overwrites the phases. Every later `modulate` throws. */
  destroy(): void {
    wipe(this.#phases);
    this.#destroyed = true;
  }

  /** Makes K of C in place, a piece at a time, so that M stays in the processor's nearest memory. */
  #combine(words: Int32Array, firstWord: number): void {
    const mask = new Int32Array(Math.min(PIECE_HALVES, words.length));
    for (let start = 0; start < words.length; start += PIECE_HALVES) {
      const piece = words.subarray(start, start + PIECE_HALVES);
      const maskOfPiece = mask.subarray(0, piece.length).fill(0);
      this.#fillMask(maskOfPiece, firstWord + start / 2);
      COMBINE[this.#type](piece, maskOfPiece);
    }
    wipe(mask);
  }

  /** M(t) = ⊕_p H_p(t), one prime after the other over all of the mask. */
  #fillMask(mask: Int32Array, firstWord: number): void {
    for (const [p, [omegaHi, omegaLo]] of OMEGA.entries()) {
      const thetaHi = this.#phases.readUInt32BE(p * WORD_BYTES);
      const thetaLo = this.#phases.readUInt32BE(p * WORD_BYTES + 4);
      // H_p(firstWord) = θ_p + firstWord·ω_p.
      const lo = (thetaLo + Math.imul(firstWord, omegaLo)) >>> 0;
      const carry = lo < thetaLo ? 1 : 0;
      const product = Math.imul(firstWord, omegaHi) + multiplyHigh(firstWord, omegaLo);
      addHarmonic(mask, thetaHi + product + carry, lo, omegaHi, omegaLo);
    }
  }
}

/** XORs H_p(t), which starts as `hi` and `lo` modulo 2^32 and grows by ω_p, onto the mask. */
function addHarmonic(
  mask: Int32Array,
  hi: number,
  lo: number,
  omegaHi: number,
  omegaLo: number,
): void {
  const stepHi = omegaHi | 0;
  const stepLo = omegaLo | 0;
  let accumulatorHi = hi | 0;
  let accumulatorLo = lo | 0;
  const halves = mask.length;
  for (let i = 0; i < halves; i += 2) {
    mask[i] ^= accumulatorHi;
    mask[i + 1] ^= accumulatorLo;
    accumulatorLo = (accumulatorLo + stepLo) | 0;
    const carry = accumulatorLo >>> 0 < stepLo >>> 0 ? 1 : 0;
    accumulatorHi = (accumulatorHi + stepHi + carry) | 0;
  }
}

function exclusiveOr(words: Int32Array, mask: Int32Array): void {
  for (let i = 0; i < words.length; i++) words[i] ^= mask[i];
}

function addModulo(words: Int32Array, mask: Int32Array): void {
  for (let i = 0; i < words.length; i += 2) {
    const lo = (words[i + 1] + mask[i + 1]) | 0;
    const carry = lo >>> 0 < mask[i + 1] >>> 0 ? 1 : 0;
    words[i] = (words[i] + mask[i] + carry) | 0;
    words[i + 1] = lo;
  }
}

/** Rotates each word left by M mod 64. */
function rotateLeft(words: Int32Array, mask: Int32Array): void {
  for (let i = 0; i < words.length; i += 2) {
    const distance = mask[i + 1] & 63;
    // A rotation by 32 swaps the halves; what is left is below 32.
    const hi = distance < 32 ? words[i] : words[i + 1];
    const lo = distance < 32 ? words[i + 1] : words[i];
    const shift = distance & 31;
    // `>>> 1 >>> (31 − shift)` is `>>> (32 − shift)` with a right answer at shift = 0.
    words[i] = (hi << shift) | ((lo >>> 1) >>> (31 - shift));
    words[i + 1] = (lo << shift) | ((hi >>> 1) >>> (31 - shift));
  }
}

/** The high half of the 64-bit product of two 32-bit unsigned integers. */
function multiplyHigh(a: number, b: number): number {
  const aHi = a >>> 16;
  const aLo = a & 0xffff;
  const bHi = b >>> 16;
  const bLo = b & 0xffff;
  const middle = aHi * bLo + ((aLo * bLo) >>> 16);
  const carried = (middle % 0x1_0000) + aLo * bHi;
  return (aHi * bHi + Math.floor(middle / 0x1_0000) + Math.floor(carried / 0x1_0000)) >>> 0;
}

/** Words are big-endian in bytes; the halves of this machine may be little-endian. */
function swapToHostOrder(bytes: Buffer): void {
  if (endianness() === 'LE') bytes.swap32();
}

function assertWords(carrier: Uint8Array, firstWord: number): void {
  if (!(carrier instanceof Uint8Array)) {
    throw new TypeError(`"carrier" expected Uint8Array, got ${typeof carrier}`);
  }
  if (carrier.length === 0 || carrier.length % WORD_BYTES !== 0) {
    throw new RangeError(
      `"carrier" expected whole 8-byte words, at least one, got length=${carrier.length}`,
    );
  }
  const lastFirst = MAX_WORDS - carrier.length / WORD_BYTES;
  if (!Number.isInteger(firstWord) || firstWord < 0 || firstWord > lastFirst) {
    throw new RangeError(
      `"firstWord" expected an integer from 0 to ${lastFirst}, got ${firstWord}`,
    );
  }
}
