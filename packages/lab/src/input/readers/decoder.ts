/** Decoders turn the bytes of a file, as they arrive, into the bits that it holds. */
import { AssessError } from '../../assess/errors.ts';

export interface Decoder {
  /** Returns the whole bytes that are complete. Throws `AssessError` on a fault of the form. */
  push(chunk: Uint8Array): Uint8Array;
  /** Ends the file. Returns what waited for the end; its last byte may have unused low bits. */
  end(): Uint8Array;
  /** Unused low bits of the last byte that `end` returned. */
  readonly unusedBits: number;
  /** The format with all that was found out at the start of the file; undefined as long as it is what was chosen. */
  readonly format?: string | undefined;
}

/** What a decoder is for. */
export interface DecoderUse {
  /** True: each sample of 8 bits or fewer takes a byte of its own, in its low bits. */
  readonly isSpread: boolean;
}

export const NO_BYTES = new Uint8Array(0);

/** Returns the error of a file that breaks the rules of its form. */
export function formError(message: string): AssessError {
  return new AssessError('wrong-form', message);
}

/** Bits of the widest sample that the estimators of SP 800-90B take. */
const MOST_SPREAD_BITS = 8;

/** Returns the error of samples that are too wide for an estimate. */
function tooWideError(bits: number): AssessError {
  return formError(
    `SP 800-90B estimates samples of at most ${MOST_SPREAD_BITS} bits, and these have ${bits}: choose bits of them, such as u16le:0-7, or reduce them as in section 6.4`,
  );
}

/** Bits that are written at once: with 7 that are held, they fit an integer of the engine. */
const MOST_BITS = 24;

/** Collects bits, most significant first, and hands them out as whole bytes. */
class BitWriter {
  #bytes = new Uint8Array(4096);
  #length = 0;
  #held = 0;
  #heldBits = 0;

  /** Appends `count` bits of a whole number, which has no more of them: at most 53. */
  put(value: number, count: number): void {
    if (count > MOST_BITS) {
      this.put(Math.floor(value / 2 ** MOST_BITS), count - MOST_BITS);
      this.put(value % 2 ** MOST_BITS, MOST_BITS);
      return;
    }
    if (this.#length + 4 > this.#bytes.length) this.#grow();
    let held = (this.#held << count) | value;
    let heldBits = this.#heldBits + count;
    while (heldBits >= 8) {
      heldBits -= 8;
      this.#bytes[this.#length++] = held >>> heldBits;
      held &= (1 << heldBits) - 1;
    }
    this.#held = held;
    this.#heldBits = heldBits;
  }

  /** Returns the bytes that are complete. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length);
    this.#bytes.fill(0, 0, this.#length);
    this.#length = 0;
    return taken;
  }

  /** Fills the last byte with zeros. Returns it, and how many of its bits are unused. */
  end(): { readonly bytes: Uint8Array; readonly unusedBits: number } {
    const unusedBits = (8 - this.#heldBits) % 8;
    this.put(0, unusedBits);
    return { bytes: this.take(), unusedBits };
  }

  #grow(): void {
    const grown = new Uint8Array(2 * this.#bytes.length);
    grown.set(this.#bytes);
    this.#bytes.fill(0);
    this.#bytes = grown;
  }
}

/** Collects samples: packed without a gap, or each in a byte of its own. */
export class SampleWriter {
  readonly #bits: number;
  /** Zeros before each sample. */
  readonly #lead: number;
  readonly #writer = new BitWriter();
  unusedBits = 0;

  /** Throws `AssessError` if a byte has no room for a sample. */
  constructor(bits: number, { isSpread }: DecoderUse) {
    if (isSpread && bits > MOST_SPREAD_BITS) throw tooWideError(bits);
    this.#bits = bits;
    this.#lead = isSpread ? MOST_SPREAD_BITS - bits : 0;
  }

  /** Takes a sample of at most 53 bits. */
  put(sample: number): void {
    this.begin();
    this.#writer.put(sample, this.#bits);
  }

  /** Begins a sample, whose bits follow. */
  begin(): void {
    if (this.#lead > 0) this.#writer.put(0, this.#lead);
  }

  putBits(value: number, count: number): void {
    this.#writer.put(value, count);
  }

  take(): Uint8Array {
    return this.#writer.take();
  }

  end(): Uint8Array {
    const { bytes, unusedBits } = this.#writer.end();
    this.unusedBits = unusedBits;
    return bytes;
  }
}

/** Cuts chunks into words of a number of bytes. */
export class WordCutter {
  readonly #size: number;
  readonly #rest: Uint8Array;
  #restLength = 0;

  constructor(size: number) {
    this.#size = size;
    this.#rest = new Uint8Array(size);
  }

  /** Calls `take` with the bytes and the place of each complete word. */
  each(chunk: Uint8Array, take: (bytes: Uint8Array, at: number) => void): void {
    let at = 0;
    if (this.#restLength > 0) {
      at = Math.min(this.#size - this.#restLength, chunk.length);
      this.#rest.set(chunk.subarray(0, at), this.#restLength);
      this.#restLength += at;
      if (this.#restLength < this.#size) return;
      take(this.#rest, 0);
    }
    for (; at + this.#size <= chunk.length; at += this.#size) take(chunk, at);
    this.#restLength = chunk.length - at;
    this.#rest.fill(0);
    this.#rest.set(chunk.subarray(at));
  }

  /** Throws unless the last word was complete. */
  assertWhole(): void {
    const left = this.#restLength;
    if (left === 0) return;
    this.#rest.fill(0);
    throw formError(
      `the input ends within a word of ${this.#size} bytes: ${left} ${left === 1 ? 'byte is' : 'bytes are'} left over`,
    );
  }
}
