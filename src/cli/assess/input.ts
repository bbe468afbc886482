/**
 * The input of `phm assess`: a file or standard input, cut into sequences as it is read.
 *
 * Each sequence starts with the bit after the previous sequence, even inside a byte or a hexadecimal
 * digit. A sequence contains no bit beyond its length. At most one sequence and one chunk are in
 * memory here.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { TextBitReader, type TextFault, type TextFormat } from '#sp800-22';
import { wipe } from '../../bytes.ts';
import { CommandError } from '../command-error.ts';
import { reasonOf } from '../read-bounded.ts';

/** `binary`: most significant bit first. `ascii`: digits 0 and 1. `hex`: four bits per digit. */
export type InputFormat = 'binary' | TextFormat;

export const INPUT_FORMATS: readonly InputFormat[] = ['binary', 'ascii', 'hex'];

/** The file name that means standard input. */
export const STANDARD_INPUT = '-';

const CHUNK_BYTES = 262_144;

/** The `bits` bits that start at `offsetBits`, most significant first. */
export interface PackedSequence {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly offsetBits: number;
  readonly bits: number;
}

/** Returns the name of the input for messages. */
export function inputName(file: string): string {
  return file === STANDARD_INPUT ? 'standard input' : file;
}

/**
 * Opens the input. `readSequence` throws `CommandError` if the input cannot be read or is not text of the
 * format. The caller MUST close the reader.
 */
export async function openInput(file: string, format: InputFormat): Promise<SequenceReader> {
  const source = file === STANDARD_INPUT ? new StandardInput() : await openFile(file);
  return format === 'binary' ? new BinaryReader(source) : new TextReader(source, format);
}

export interface SequenceReader {
  /** Size of a regular file; undefined for pipes, devices and other inputs. */
  readonly sizeBytes: number | undefined;
  /** Bytes taken from the source, including a chunk that was read ahead. */
  readonly takenBytes: number;
  /** Reads the next `limitBits` bits, or as many as there are. */
  readSequence(limitBits: number): Promise<PackedSequence>;
  close(): Promise<void>;
}

class BinaryReader implements SequenceReader {
  readonly #source: ByteSource;
  /** The byte that the last sequence shares with the next one. */
  #sharedByte = 0;
  #offsetBits = 0;
  takenBytes = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  get sizeBytes(): number | undefined {
    return this.#source.sizeBytes;
  }

  async readSequence(limitBits: number): Promise<PackedSequence> {
    const offsetBits = this.#offsetBits;
    const bytes = new Uint8Array(Math.ceil((offsetBits + limitBits) / 8));
    let length = 0;
    if (offsetBits > 0) bytes[length++] = this.#sharedByte;
    while (length < bytes.length) {
      const count = await this.#source.read(bytes.subarray(length));
      if (count === 0) break;
      length += count;
      this.takenBytes += count;
    }
    const bits = Math.min(limitBits, length * 8 - offsetBits);
    this.#offsetBits = (offsetBits + bits) % 8;
    this.#sharedByte = bytes[length - 1] ?? 0;
    return { bytes, offsetBits, bits };
  }

  close(): Promise<void> {
    this.#sharedByte = 0;
    return this.#source.close();
  }
}

class TextReader implements SequenceReader {
  readonly #source: ByteSource;
  readonly #format: TextFormat;
  readonly #bits: TextBitReader;
  readonly #chunk = new Uint8Array(CHUNK_BYTES);
  takenBytes = 0;

  constructor(source: ByteSource, format: TextFormat) {
    this.#source = source;
    this.#format = format;
    this.#bits = new TextBitReader(format);
  }

  get sizeBytes(): number | undefined {
    return this.#source.sizeBytes;
  }

  async readSequence(limitBits: number): Promise<PackedSequence> {
    const bytes = new Uint8Array(Math.ceil(limitBits / 8));
    let bits = 0;
    for (;;) {
      const reached = this.#bits.read(bytes, bits, limitBits);
      if (typeof reached !== 'number') throw new CommandError(this.#faultMessage(reached), 1);
      bits = reached;
      if (bits === limitBits) break;
      const count = await this.#source.read(this.#chunk);
      if (count === 0) break;
      this.takenBytes += count;
      this.#bits.feed(this.#chunk.subarray(0, count));
    }
    return { bytes, offsetBits: 0, bits };
  }

  close(): Promise<void> {
    wipe(this.#chunk);
    return this.#source.close();
  }

  #faultMessage({ line, column, byte }: TextFault): string {
    const printable = byte > 0x20 && byte < 0x7f;
    const found = printable ? `"${String.fromCharCode(byte)}"` : `byte 0x${hexByte(byte)}`;
    const digits = this.#format === 'hex' ? 'a hexadecimal digit' : '0, 1';
    const hint = `expected ${digits} or whitespace (for a binary file use --format binary)`;
    return `${this.#source.name}, line ${line}, column ${column}: found ${found}, ${hint}`;
  }
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

interface ByteSource {
  readonly name: string;
  readonly sizeBytes: number | undefined;
  /** Fills `into` from the front. Resolves with the number of bytes read, which is 0 only at the end. */
  read(into: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

class FileSource implements ByteSource {
  readonly name: string;
  readonly sizeBytes: number | undefined;
  readonly #handle: FileHandle;

  constructor(name: string, handle: FileHandle, sizeBytes: number | undefined) {
    this.name = name;
    this.#handle = handle;
    this.sizeBytes = sizeBytes;
  }

  async read(into: Uint8Array): Promise<number> {
    try {
      return (await this.#handle.read(into)).bytesRead;
    } catch (error) {
      throw unreadable(this.name, error);
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

async function openFile(file: string): Promise<FileSource> {
  try {
    const handle = await open(file, 'r');
    const stat = await handle.stat();
    // Files such as those of /proc are regular files with size 0.
    const sizeBytes = stat.isFile() && stat.size > 0 ? stat.size : undefined;
    if (!stat.isDirectory()) return new FileSource(file, handle, sizeBytes);
    await handle.close();
  } catch (error) {
    throw unreadable(file, error);
  }
  throw new CommandError(`${file} is a directory, not a file`, 1);
}

/**
 * Reads standard input as a stream, not by its descriptor: a pending read of a stream can be abandoned,
 * so that Ctrl-C ends the command while it waits for input.
 */
class StandardInput implements ByteSource {
  readonly name = inputName(STANDARD_INPUT);
  readonly sizeBytes = undefined;
  readonly #chunks = process.stdin[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  #chunk: Uint8Array = new Uint8Array(0);

  async read(into: Uint8Array): Promise<number> {
    while (this.#chunk.length === 0) {
      const { done, value } = await this.#next();
      if (done) return 0;
      this.#chunk = value;
    }
    const part = this.#chunk.subarray(0, into.length);
    into.set(part);
    wipe(part);
    this.#chunk = this.#chunk.subarray(part.length);
    return part.length;
  }

  async #next(): Promise<IteratorResult<Buffer>> {
    try {
      return await this.#chunks.next();
    } catch (error) {
      throw unreadable(this.name, error);
    }
  }

  async close(): Promise<void> {
    wipe(this.#chunk);
    process.stdin.destroy();
  }
}

function unreadable(name: string, error: unknown): CommandError {
  return new CommandError(`${name} cannot be read: ${reasonOf(error)}`, 1);
}
