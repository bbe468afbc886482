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

/** The bits of each byte in the other order. */
const REVERSED = Uint8Array.from({ length: 256 }, (_, byte) =>
  [0, 1, 2, 3, 4, 5, 6, 7].reduce((all, i) => (all << 1) | ((byte >>> i) & 1), 0),
);

export class PackedDecoder implements Decoder {
  readonly #form: Packed;
  readonly #writer: SampleWriter;
  readonly #width: number;
  /** True: the bits of the samples are those of the bytes in their order. */
  readonly #isPlain: boolean;
  /** Bits of a sample that is not complete, below 2^40. */
  #held = 0;
  #heldBits = 0;

  constructor(form: Packed, use: DecoderUse) {
    this.#form = form;
    this.#width = form.bits ?? 8;
    this.#isPlain = !use.isSpread && !form.isLsbFirst;
    this.#writer = new SampleWriter(this.#width, use);
  }

  get unusedBits(): number {
    return this.#writer.unusedBits;
  }

  push(chunk: Uint8Array): Uint8Array {
    // Bytes that are samples keep their value: only the order of time of their bits is another.
    if (this.#form.bits === null) return chunk.map((byte) => REVERSED[byte] as number);
    if (this.#isPlain) {
      this.#heldBits = (this.#heldBits + 8 * chunk.length) % this.#width;
      return chunk.slice();
    }
    for (const byte of chunk) this.#take(byte);
    return this.#writer.take();
  }

  /** Fewer than 8 bits fill the last byte, and are no sample. */
  end(): Uint8Array {
    if (this.#heldBits >= 8) {
      throw formError(
        `the input ends within a sample of ${this.#width} bits: ${this.#heldBits} bits are left over`,
      );
    }
    this.#held = 0;
    return this.#writer.end();
  }

  #take(byte: number): void {
    const width = this.#width;
    const { isLsbFirst } = this.#form;
    this.#held = isLsbFirst ? this.#held + byte * 2 ** this.#heldBits : this.#held * 256 + byte;
    this.#heldBits += 8;
    while (this.#heldBits >= width) {
      this.#heldBits -= width;
      const limit = 2 ** (isLsbFirst ? width : this.#heldBits);
      const [above, below] = [Math.floor(this.#held / limit), this.#held % limit];
      this.#writer.put(isLsbFirst ? below : above);
      this.#held = isLsbFirst ? above : below;
    }
  }
}
