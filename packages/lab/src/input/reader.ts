/**
 * An input, cut into sequences as it is read.
 *
 * Each sequence starts with the bit after the previous sequence, even inside a byte or a hexadecimal digit. A sequence
 * contains no bit beyond its length. At most one sequence and one chunk are in memory here.
 */

import type { Hash } from '../../../sp800-22/src/index.ts';
import { AssessError } from '../assess/errors.ts';
import { platform } from '../platform.ts';
import type { ByteSource } from './kinds.ts';
import type { NumberFault } from './prefixed-numbers.ts';
import { TextBitReader, type TextFault, type TextFormat } from './text-bits.ts';

const CHUNK_BYTES = 262_144;

/** The `bits` bits that start at `offsetBits`, most significant first. */
export interface InputSequence {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly offsetBits: number;
  readonly bits: number;
}

export interface ConsumedInput {
  readonly bytes: number;
  readonly sha256: string;
}

export interface SequenceReader {
  /** How the input is read, as `parseFormat` takes it. An input that is recognised has it from `prepare` on. */
  readonly format: string;
  /** Undefined for streams. */
  readonly sizeBytes: number | undefined;
  /** Bits of a binary input; undefined for streams and text. */
  readonly sizeBits: number | undefined;
  /** Bytes taken from the source, including a chunk that was read ahead. */
  readonly takenBytes: number;
  /** The bytes that the sequences so far have used, from the start of the input, and their SHA-256. */
  consumed(): ConsumedInput;
  /** Recognises the input, if that is needed. `readSequence` does too. */
  prepare?(): Promise<void>;
  /** Reads what is left, if a checksum at the end of the input shows whether what was read is right. */
  finish?(): Promise<void>;
  /** Reads the next `limitBits` bits, or as many as there are. Rejects with `AssessError` on a fault of the text. */
  readSequence(limitBits: number): Promise<InputSequence>;
  close(): Promise<void>;
}

/** Reads and wipes `bits` bits, or as many as there are. They count as consumed. */
export async function skipBits(reader: SequenceReader, bits: number): Promise<void> {
  for (let left = bits; left > 0; ) {
    const skipped = await reader.readSequence(Math.min(left, 8 * CHUNK_BYTES));
    skipped.bytes.fill(0);
    if (skipped.bits === 0) return;
    left -= skipped.bits;
  }
}

export class BinaryReader implements SequenceReader {
  readonly format = 'binary';
  readonly #source: ByteSource;
  /** The byte that the last sequence shares with the next one. */
  #sharedByte = 0;
  #offsetBits = 0;
  readonly #hash: Hash;
  takenBytes = 0;

  constructor(source: ByteSource, hash: Hash = platform().newHash()) {
    this.#source = source;
    this.#hash = hash;
  }

  get sizeBytes(): number | undefined {
    return this.#source.sizeBytes;
  }

  get sizeBits(): number | undefined {
    return this.sizeBytes === undefined ? undefined : 8 * this.sizeBytes;
  }

  async readSequence(limitBits: number): Promise<InputSequence> {
    const offsetBits = this.#offsetBits;
    const bytes = new Uint8Array(Math.ceil((offsetBits + limitBits) / 8));
    let length = 0;
    if (offsetBits > 0) bytes[length++] = this.#sharedByte;
    while (length < bytes.length) {
      const count = await this.#source.read(bytes.subarray(length));
      if (count === 0) break;
      this.#hash.update(bytes.subarray(length, length + count));
      length += count;
      this.takenBytes += count;
    }
    const bits = Math.min(limitBits, length * 8 - offsetBits);
    this.#offsetBits = (offsetBits + bits) % 8;
    this.#sharedByte = bytes[length - 1] ?? 0;
    return { bytes, offsetBits, bits };
  }

  consumed(): ConsumedInput {
    return { bytes: this.takenBytes, sha256: this.#hash.hex() };
  }

  close(): Promise<void> {
    this.#sharedByte = 0;
    return this.#source.close();
  }
}

export class TextReader implements SequenceReader {
  readonly #source: ByteSource;
  readonly #format: TextFormat;
  readonly #bits: TextBitReader;
  readonly #check: (part: Uint8Array) => void;
  readonly #chunk = new Uint8Array(CHUNK_BYTES);
  #ended = false;
  readonly sizeBits = undefined;
  readonly #hash = platform().newHash();
  /** Bytes of the chunk, and of all chunks, in the hash. */
  #hashedOfChunk = 0;
  #hashed = 0;
  takenBytes = 0;

  get format(): string {
    return this.#format;
  }

  /** `check` throws if it refuses a part of the text. */
  constructor(
    source: ByteSource,
    format: TextFormat,
    check: (part: Uint8Array) => void = () => {},
  ) {
    this.#source = source;
    this.#check = check;
    this.#format = format;
    this.#bits = new TextBitReader(format);
  }

  get sizeBytes(): number | undefined {
    return this.#source.sizeBytes;
  }

  async readSequence(limitBits: number): Promise<InputSequence> {
    const bytes = new Uint8Array(Math.ceil(limitBits / 8));
    let bits = 0;
    for (;;) {
      const reached = this.#bits.read(bytes, bits, limitBits);
      if (typeof reached !== 'number') throw textError(this.#format, reached);
      bits = reached;
      if (bits === limitBits) break;
      this.#hashConsumed();
      const count = await this.#source.read(this.#chunk);
      if (count === 0) {
        if (this.#ended) break;
        this.#ended = true;
        this.#bits.end();
        continue;
      }
      this.takenBytes += count;
      this.#check(this.#chunk.subarray(0, count));
      this.#bits.feed(this.#chunk.subarray(0, count));
      this.#hashedOfChunk = 0;
    }
    this.#hashConsumed();
    return { bytes, offsetBits: 0, bits };
  }

  consumed(): ConsumedInput {
    return { bytes: this.#hashed, sha256: this.#hash.hex() };
  }

  /** The chunk has bytes that no sequence has used yet. */
  #hashConsumed(): void {
    const { position } = this.#bits;
    this.#hash.update(this.#chunk.subarray(this.#hashedOfChunk, position));
    this.#hashed += position - this.#hashedOfChunk;
    this.#hashedOfChunk = position;
  }

  close(): Promise<void> {
    this.#chunk.fill(0);
    return this.#source.close();
  }
}

function textError(format: TextFormat, fault: TextFault): AssessError {
  const { line, column, byte, number } = fault;
  const place = `line ${line}, column ${column}`;
  return number
    ? new AssessError('uneven-numbers', `${place}: ${unevenText(number)}`)
    : new AssessError('not-text', `${place}: ${notTextText(format, byte)}`);
}

function unevenText(fault: NumberFault): string {
  if (fault.kind === 'mixed') {
    return 'found numbers with and without 0x: write 0x and leading zeros in all, such as with "0x%02x"; "%#x" leaves 0x out for 0';
  }
  const { digits, expected } = fault;
  const found = `${digits} ${digits === 1 ? 'digit' : 'digits'}`;
  const all = Math.max(digits, expected);
  return `found ${found} after 0x, expected ${expected} as in the first number: write leading zeros, such as with "0x%0${all}x"`;
}

function notTextText(format: TextFormat, byte: number): string {
  const printable = byte > 0x20 && byte < 0x7f;
  const found = printable
    ? `"${String.fromCharCode(byte)}"`
    : `byte 0x${byte.toString(16).padStart(2, '0')}`;
  const allowed =
    format === 'hex'
      ? 'a hexadecimal digit, whitespace, 0x before a number or one of ,:-_'
      : '0, 1 or whitespace';
  return `found ${found}, expected ${allowed}`;
}
