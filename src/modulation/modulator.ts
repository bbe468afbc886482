/**
 * Prime Harmonic Modulation, version 1: docs/prime-harmonic-modulation.md.
 *
 * The symbols are those of the document: phases θ_p, frequencies ω_p, harmonics H_p(t), the
 * modulation word M(t), the carrier C(t) and the key word K(t) at index t. WebAssembly computes
 * M(t); carrier and key words stay here. A 64-bit word is a pair of 32-bit halves, `hi` and `lo`,
 * because BigInt arithmetic is slow and allocates. The halves are signed, because the engine holds
 * unsigned integers above 2^31 as doubles.
 */
import { assertLength, newBytes, wipe } from '../bytes.ts';
import { type ModulationKernel, modulationKernel, PHASES_BYTES } from './kernel.ts';

export const MODULATION_TYPES = ['phase', 'frequency', 'amplitude', 'none'] as const;
export type ModulationType = (typeof MODULATION_TYPES)[number];
export const DEFAULT_MODULATION: ModulationType = 'phase';

const WORD_BYTES = 8;

/** t is a 32-bit unsigned integer. */
const MAX_WORDS: number = 2 ** 32;

/**
 * Functions that turn C(t) into K(t) for many t, by type. `words` holds the halves of C, high
 * first, and receives those of K; `mask` holds those of M.
 */
type Combination = (words: Int32Array, mask: Int32Array) => void;
const COMBINE: Readonly<Record<ModulationType, Combination>> = {
  phase: exclusiveOr,
  frequency: rotateLeft,
  amplitude: addModulo,
  none: () => {},
};

/** The inverses of `COMBINE`: they turn K(t) into C(t). */
const SEPARATE: Readonly<Record<ModulationType, Combination>> = {
  phase: exclusiveOr,
  frequency: rotateRight,
  amplitude: subtractModulo,
  none: () => {},
};

/** Modulates one stream with one set of phases. */
export class Modulator {
  readonly #type: ModulationType;
  readonly #phases: Uint8Array;
  #destroyed = false;

  /**
   * Takes over `phases`, 64 bytes: `destroy` wipes them. Throws `TypeError` on any other type or length; then the caller
   * still owns them.
   */
  constructor(type: ModulationType, phases: Uint8Array) {
    if (!MODULATION_TYPES.includes(type)) {
      throw new TypeError(`"type" expected one of ${MODULATION_TYPES.join(', ')}, got ${type}`);
    }
    assertLength('phases', phases, PHASES_BYTES);
    this.#type = type;
    this.#phases = phases;
  }

  /**
   * Returns K(t) for the words of the carrier, from index `firstWord` on, in new memory. Throws
   * `RangeError` unless the carrier is whole words with indices below 2^32.
   */
  modulate(carrier: Uint8Array, firstWord: number): Buffer {
    assertWords(carrier, firstWord);
    const modulated = newBytes(carrier.length);
    modulated.set(carrier);
    this.modulateInPlace(modulated, firstWord);
    return modulated;
  }

  /**
   * Replaces the words of the carrier by K(t), from index `firstWord` on. Throws as `modulate` does. The carrier lies at a
   * multiple of 4 bytes.
   */
  modulateInPlace(carrier: Buffer, firstWord: number): void {
    this.#replace(COMBINE[this.#type], carrier, firstWord);
  }

  /** Replaces the words of K by C(t), the inverse of `modulateInPlace`. Throws as it does. */
  demodulateInPlace(modulated: Buffer, firstWord: number): void {
    this.#replace(SEPARATE[this.#type], modulated, firstWord);
  }

  /** Overwrites the phases. Every later call throws. */
  destroy(): void {
    wipe(this.#phases);
    this.#destroyed = true;
  }

  #replace(combination: Combination, bytes: Buffer, firstWord: number): void {
    if (this.#destroyed) throw new Error('the modulator was destroyed and gives no more output');
    assertWords(bytes, firstWord);
    if (this.#type === 'none') return;
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    // Bytes of words are big-endian. The halves have the byte order of this machine, which is
    // little-endian.
    bytes.swap32();
    this.#combine(combination, modulationKernel(), words, firstWord);
    bytes.swap32();
  }

  /** Combines words with M in place, in pieces of at most `maskWords` words. */
  #combine(
    combination: Combination,
    kernel: ModulationKernel,
    words: Int32Array,
    firstWord: number,
  ): void {
    const halvesAtOnce = 2 * kernel.maskWords;
    try {
      for (let start = 0; start < words.length; start += halvesAtOnce) {
        const isWhole = words.length <= halvesAtOnce;
        const piece = isWhole ? words : words.subarray(start, start + halvesAtOnce);
        const mask = kernel.makeMask(this.#phases, firstWord + start / 2, piece.length / 2);
        combination(piece, mask);
      }
    } finally {
      kernel.wipe();
    }
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

function subtractModulo(words: Int32Array, mask: Int32Array): void {
  for (let i = 0; i < words.length; i += 2) {
    const borrow = words[i + 1] >>> 0 < mask[i + 1] >>> 0 ? 1 : 0;
    words[i] = (words[i] - mask[i] - borrow) | 0;
    words[i + 1] = (words[i + 1] - mask[i + 1]) | 0;
  }
}

/** Rotates each word left by M mod 64. */
function rotateLeft(words: Int32Array, mask: Int32Array): void {
  for (let i = 0; i < words.length; i += 2) rotateWord(words, i, mask[i + 1] & 63);
}

/** Rotates each word right by M mod 64. */
function rotateRight(words: Int32Array, mask: Int32Array): void {
  for (let i = 0; i < words.length; i += 2) rotateWord(words, i, (64 - (mask[i + 1] & 63)) & 63);
}

/** Rotates the word at `i` left. */
function rotateWord(words: Int32Array, i: number, distance: number): void {
  // A rotation by 32 swaps the halves. The remaining distance is below 32.
  const hi = distance < 32 ? words[i] : words[i + 1];
  const lo = distance < 32 ? words[i + 1] : words[i];
  const shift = distance & 31;
  // `>>> 1 >>> (31 − shift)` is `>>> (32 − shift)` that is also correct for shift = 0.
  words[i] = (hi << shift) | ((lo >>> 1) >>> (31 - shift));
  words[i + 1] = (lo << shift) | ((hi >>> 1) >>> (31 - shift));
}

/** Carriers and modulated words obey the same rule. */
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
