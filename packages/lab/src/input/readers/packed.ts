/** Samples without gaps between them, and bytes whose first bit is the least significant one. */
import { type Decoder, type DecoderUse, formError, SampleWriter } from './decoder.ts';

interface Packed {
  /** Bits of a sample; null: bytes, whose order of bits alone matters. */
  readonly bits: number | null;
  /** True: the first bit of a byte, and of a sample, is the least significant one. */
  readonly isLsbFirst: boolean;
}

const NAME = /^(?:binary|packed([1-9]|[12]\d|3[0-2]))(:lsb)?$/;

/** Reads `binary:lsb`, `packed12`, `packed12:lsb`. Returns null for another form. */
export function parsePacked(text: string): Packed | null {
  const found = NAME.exec(text);
  if (!found) return null;
  const [, bits, lsb] = found;
  return { bits: bits === undefined ? null : Number(bits), isLsbFirst: lsb !== undefined };
}

export class PackedDecoder implements Decoder {
  readonly #form: Packed;
  readonly #writer: SampleWriter;
  readonly #width: number;
  /** Bits of a sample that is not complete. */
  #held = 0;
  #heldBits = 0;

  constructor(form: Packed, use: DecoderUse) {
    this.#form = form;
    this.#width = form.bits ?? 1;
    // Bytes that are samples keep their value: only the order of time of their bits is another.
    this.#writer = new SampleWriter(this.#width, form.bits === null ? { isSpread: false } : use);
  }

  get unusedBits(): number {
    return this.#writer.unusedBits;
  }

  push(chunk: Uint8Array): Uint8Array {
    const { isLsbFirst } = this.#form;
    for (const byte of chunk) {
      for (let i = 0; i < 8; i++) this.#take((byte >>> (isLsbFirst ? i : 7 - i)) & 1);
    }
    return this.#writer.take();
  }

  /** Bits that fill the last byte are no sample. */
  end(): Uint8Array {
    if (this.#heldBits >= 8) {
      throw formError(
        `the input ends within a sample of ${this.#width} bits: ${this.#heldBits} bits are left over`,
      );
    }
    this.#held = 0;
    return this.#writer.end();
  }

  #take(bit: number): void {
    this.#held += this.#form.isLsbFirst ? bit * 2 ** this.#heldBits : 0;
    if (!this.#form.isLsbFirst) this.#held = 2 * this.#held + bit;
    if (++this.#heldBits < this.#width) return;
    this.#writer.put(this.#held);
    this.#held = 0;
    this.#heldBits = 0;
  }
}
