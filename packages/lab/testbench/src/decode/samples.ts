/** Samples as whole numbers, and the bytes that they are packed into. */
import { DecodeError } from './decoder.ts';

/** The widest sample. */
export const MAX_SAMPLE_BITS = 32;

export interface SampleOptions {
  /** Bits of each sample, 1 to 32. */
  readonly bits: number;
  /** True: each sample takes a byte of its own, in its low bits. `bits` is then 8 at most. */
  readonly isSpread?: boolean;
}

/** Packs samples without a gap, the most significant bit first. */
export class SamplePacker {
  readonly #bits: number;
  readonly #emitted: number;
  readonly #limit: number;
  /** Bits that are not yet a byte. */
  #held = 0;
  #heldBits = 0;

  constructor({ bits, isSpread = false }: SampleOptions) {
    this.#bits = bits;
    this.#emitted = isSpread ? 8 : bits;
    this.#limit = 2 ** bits;
  }

  /** Returns the sample that a field holds. `place` names the field in the error. */
  parse(field: string, place: () => string): number {
    if (!isWhole(field)) {
      throw new DecodeError(`${place()} has "${field}", expected a whole number from 0 up`);
    }
    const sample = Number(field);
    if (sample < this.#limit) return sample;
    const remedy =
      sample < 2 ** MAX_SAMPLE_BITS
        ? `needs more than ${this.#bits} bits: raise "Bits per value"`
        : `needs more than ${MAX_SAMPLE_BITS} bits, the most that a value may have`;
    throw new DecodeError(`${place()} has ${field}, which ${remedy}`);
  }

  /** Keeps the bits of an incomplete byte for the next call. */
  pack(samples: readonly number[]): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(Math.ceil((samples.length * this.#emitted) / 8) + 1);
    let length = 0;
    for (const sample of samples) {
      for (let bit = this.#emitted - 1; bit >= 0; bit--) {
        this.#held = (this.#held << 1) | ((sample >>> bit) & 1);
        if (++this.#heldBits < 8) continue;
        bytes[length++] = this.#held;
        this.#held = 0;
        this.#heldBits = 0;
      }
    }
    return bytes.subarray(0, length);
  }
}

function isWhole(field: string): boolean {
  return /^\d+$/.test(field);
}

/**
 * Returns the bits of the largest of these numbers, which may be more than a sample may have. A wider sample would get bits
 * that are always 0. Returns null if one is no whole number, or if there are none.
 */
export function widthOf(fields: readonly string[]): number | null {
  if (fields.length === 0 || !fields.every(isWhole)) return null;
  const largest = fields.reduce((most, field) => Math.max(most, Number(field)), 0);
  return largest < 2 ** MAX_SAMPLE_BITS
    ? largest.toString(2).length
    : Math.floor(Math.log2(largest)) + 1;
}
