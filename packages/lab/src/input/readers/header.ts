/** A form with a header: its bytes are collected until they say how the rest is read. */
import { type Decoder, formError, NO_BYTES } from './decoder.ts';

/** Longer than any header. */
const MAX_HEADER_BYTES = 2 ** 20;

export abstract class HeaderDecoder implements Decoder {
  #header: Uint8Array = NO_BYTES;
  #body: Decoder | null = null;
  format: string | undefined;

  /** What the file is called in an error. */
  protected abstract readonly noun: string;

  /**
   * Reads the header. Returns the bytes that it takes and the decoder of what follows it, or null if more are needed. Throws
   * `AssessError` if the file is not read.
   */
  protected abstract readHeader(
    bytes: Uint8Array,
  ): { readonly length: number; readonly body: Decoder; readonly format: string } | null;

  get unusedBits(): number {
    return this.#body?.unusedBits ?? 0;
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#body) return this.#body.push(chunk);
    const all = new Uint8Array(this.#header.length + chunk.length);
    all.set(this.#header);
    all.set(chunk, this.#header.length);
    this.#header.fill(0);
    this.#header = all;
    const header = this.readHeader(all);
    if (!header) {
      if (all.length > MAX_HEADER_BYTES) throw formError(`${this.noun} has no end of its header`);
      return NO_BYTES;
    }
    this.#body = header.body;
    this.format = header.format;
    const first = header.body.push(all.subarray(header.length));
    all.fill(0);
    this.#header = NO_BYTES;
    return first;
  }

  end(): Uint8Array {
    if (!this.#body) throw formError(`${this.noun} ends within its header`);
    return this.#body.end();
  }
}

/** Reads so many bytes, no fewer and no more. */
export class ExactLength implements Decoder {
  readonly #body: Decoder;
  readonly #noun: string;
  #left: number;

  constructor(body: Decoder, length: number, noun: string) {
    this.#body = body;
    this.#left = length;
    this.#noun = noun;
  }

  get unusedBits(): number {
    return this.#body.unusedBits;
  }

  push(chunk: Uint8Array): Uint8Array {
    if (chunk.length > this.#left)
      throw formError(`${this.#noun} has more bytes than its header says`);
    this.#left -= chunk.length;
    return this.#body.push(chunk);
  }

  end(): Uint8Array {
    if (this.#left > 0) {
      throw formError(`${this.#noun} is cut off: ${this.#left} bytes are missing`);
    }
    return this.#body.end();
  }
}
