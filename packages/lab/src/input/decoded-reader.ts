/** An input in a form that a decoder reads, cut into sequences as its bits arrive. */
import type { Hash } from '../../../sp800-22/src/index.ts';
import { platform } from '../platform.ts';
import type { ByteSource } from './kinds.ts';
import {
  BinaryReader,
  type ConsumedInput,
  type InputSequence,
  type SequenceReader,
} from './reader.ts';
import type { Decoder } from './readers/decoder.ts';
import { GunzipSource } from './readers/gunzip.ts';

/** Always as many, so that the same input gives the same report from a file and from a stream. */
const CHUNK_BYTES = 65_536;

/** Counts and hashes what is read of the original input. */
class HashedSource implements ByteSource {
  readonly #source: ByteSource;
  readonly #hash = platform().newHash();
  takenBytes = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  get sizeBytes(): number | undefined {
    return this.#source.sizeBytes;
  }

  async read(into: Uint8Array): Promise<number> {
    const count = await this.#source.read(into);
    this.#hash.update(into.subarray(0, count));
    this.takenBytes += count;
    return count;
  }

  consumed(): ConsumedInput {
    return { bytes: this.takenBytes, sha256: this.#hash.hex() };
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

/** The decoded bytes. */
class DecodedSource implements ByteSource {
  readonly sizeBytes = undefined;
  readonly #source: ByteSource;
  readonly #decoder: Decoder;
  readonly #chunk = new Uint8Array(CHUNK_BYTES);
  #ahead: Uint8Array = new Uint8Array(0);
  #decodedBytes = 0;
  hasEnded = false;

  constructor(source: ByteSource, decoder: Decoder) {
    this.#source = source;
    this.#decoder = decoder;
  }

  /** All bits of the input, once it has ended. */
  get bits(): number {
    return 8 * this.#decodedBytes - this.#decoder.unusedBits;
  }

  async read(into: Uint8Array): Promise<number> {
    while (this.#ahead.length === 0) {
      if (this.hasEnded) return 0;
      this.#ahead = await this.#decode();
      this.#decodedBytes += this.#ahead.length;
    }
    const part = this.#ahead.subarray(0, into.length);
    into.set(part);
    part.fill(0);
    this.#ahead = this.#ahead.subarray(part.length);
    return part.length;
  }

  async #decode(): Promise<Uint8Array> {
    let length = 0;
    while (length < CHUNK_BYTES) {
      const count = await this.#source.read(this.#chunk.subarray(length));
      if (count === 0) break;
      length += count;
    }
    if (length > 0) return this.#decoder.push(this.#chunk.subarray(0, length));
    this.hasEnded = true;
    return this.#decoder.end();
  }

  async close(): Promise<void> {
    this.#chunk.fill(0);
    this.#ahead.fill(0);
    await this.#source.close();
  }
}

/** The digest of a report is that of the input as it is. */
const UNHASHED: Hash = { update: () => {}, hex: () => '' };

export class DecodedReader implements SequenceReader {
  readonly #original: HashedSource;
  readonly #decoded: DecodedSource;
  readonly #reader: BinaryReader;
  readonly #decoder: Decoder;
  readonly #format: string;
  #bits = 0;
  readonly sizeBits = undefined;

  /** `format` is the name of the form, until the decoder knows more of it. `content` may look at the decoded bytes. */
  constructor(
    source: ByteSource,
    decoder: Decoder,
    format: string,
    content: (decoded: ByteSource) => ByteSource = (decoded) => decoded,
  ) {
    this.#original = new HashedSource(source);
    this.#decoder = decoder;
    this.#decoded = new DecodedSource(this.#original, decoder);
    this.#reader = new BinaryReader(content(this.#decoded), UNHASHED);
    this.#format = format;
  }

  get format(): string {
    return this.#decoder.format ?? this.#format;
  }

  get sizeBytes(): number | undefined {
    return this.#original.sizeBytes;
  }

  get takenBytes(): number {
    return this.#original.takenBytes;
  }

  consumed(): ConsumedInput {
    return this.#original.consumed();
  }

  async readSequence(limitBits: number): Promise<InputSequence> {
    const sequence = await this.#reader.readSequence(limitBits);
    const left = this.#decoded.hasEnded ? this.#decoded.bits - this.#bits : sequence.bits;
    const bits = Math.max(0, Math.min(sequence.bits, left));
    this.#bits += bits;
    return { ...sequence, bits };
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

/** An input in gzip, of whose content another reader makes sequences. */
export class GzipReader implements SequenceReader {
  readonly #original: HashedSource;
  readonly #content: GunzipSource;
  readonly #reader: SequenceReader;
  #isClosed = false;
  readonly sizeBits = undefined;

  constructor(source: ByteSource, readerOf: (content: ByteSource) => SequenceReader) {
    this.#original = new HashedSource(source);
    this.#content = new GunzipSource(this.#original);
    this.#reader = readerOf(this.#content);
  }

  get format(): string {
    return `gzip:${this.#reader.format}`;
  }

  get sizeBytes(): number | undefined {
    return this.#original.sizeBytes;
  }

  get takenBytes(): number {
    return this.#original.takenBytes;
  }

  consumed(): ConsumedInput {
    return this.#original.consumed();
  }

  async prepare(): Promise<void> {
    await this.#reader.prepare?.();
  }

  readSequence(limitBits: number): Promise<InputSequence> {
    return this.#reader.readSequence(limitBits);
  }

  /** Decompresses the rest: the checksum of the content stands at the end. */
  async finish(): Promise<void> {
    await this.#reader.finish?.();
    const scratch = new Uint8Array(CHUNK_BYTES);
    while (!this.#isClosed && (await this.#content.read(scratch)) > 0);
    scratch.fill(0);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#reader.close();
  }
}
