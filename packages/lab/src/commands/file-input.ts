/** The input of the commands that assess: a file or standard input, read by the package. */

import { type FileHandle, open } from 'node:fs/promises';
import { CommandError } from '../../../platform/src/commands/index.ts';
import { readFailure as reasonOf } from '../../../platform/src/files/index.ts';
import { AssessError } from '../assess/errors.ts';
import type { ByteSource } from '../input/kinds.ts';
import { type InputFormat, openReader } from '../input/open.ts';
import type { ConsumedInput, InputSequence, SequenceReader } from '../input/reader.ts';
import type { Recognition } from '../input/recognising.ts';
import { inputName, STANDARD_INPUT } from './input-name.ts';
import { type InputUse, otherFormError } from './other-form.ts';

/** What the command does with the input, and which forms it accepts. */
type InputRules = InputUse & Recognition;

/**
 * Opens the input. Without a format, one that looks like another form than bits is refused. `readSequence` throws
 * `CommandError` if the input cannot be read or is not text of the format. The caller MUST close the reader.
 */
export async function openInput(
  file: string,
  format: InputFormat | undefined,
  rules: InputRules,
): Promise<SequenceReader> {
  const source = file === STANDARD_INPUT ? new StandardInput() : await openFile(file);
  const { neededBytes, accepts, isSpread } = rules;
  const recognition = { neededBytes, accepts, isSpread };
  try {
    return new NamedReader(openReader(source, format, recognition), file, format, rules);
  } catch (error) {
    await source.close();
    // Samples that are too wide.
    if (error instanceof AssessError)
      throw new CommandError(`--format ${format}: ${error.message}`, 2);
    throw error;
  }
}

/** An input whose bits before the fault may be wrong too, so that nothing of it is reported. */
export class DamagedInput extends CommandError {}

/** The reader of the package, whose faults name the input and what to do. */
class NamedReader implements SequenceReader {
  readonly #reader: SequenceReader;
  readonly #file: string;
  readonly #format: InputFormat | undefined;
  readonly #use: InputUse;

  constructor(
    reader: SequenceReader,
    file: string,
    format: InputFormat | undefined,
    use: InputUse,
  ) {
    this.#reader = reader;
    this.#file = file;
    this.#format = format;
    this.#use = use;
  }

  get format(): string {
    return this.#reader.format;
  }

  get sizeBytes(): number | undefined {
    return this.#reader.sizeBytes;
  }

  get sizeBits(): number | undefined {
    return this.#reader.sizeBits;
  }

  get takenBytes(): number {
    return this.#reader.takenBytes;
  }

  consumed(): ConsumedInput {
    return this.#reader.consumed();
  }

  readSequence(limitBits: number): Promise<InputSequence> {
    return this.#named(() => this.#reader.readSequence(limitBits));
  }

  prepare(): Promise<void> {
    return this.#named(async () => this.#reader.prepare?.());
  }

  finish(): Promise<void> {
    return this.#named(async () => this.#reader.finish?.());
  }

  async #named<Result>(read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof AssessError)) throw error;
      if (error.figures.form) {
        throw otherFormError(this.#file, error.figures, this.#use, this.#format !== undefined);
      }
      if (error.code === 'damaged') throw new DamagedInput(this.#messageOf(error), 2);
      throw new CommandError(this.#messageOf(error), 2);
    }
  }

  #messageOf({ code, message }: AssessError): string {
    const name = inputName(this.#file);
    if (code === 'not-text') return `${name}, ${message} (for a binary file use --format binary)`;
    if (code !== 'wrong-form' && code !== 'damaged') return `${name}, ${message}`;
    const hint =
      this.#format === undefined && code !== 'damaged' ? '; --format binary reads it as it is' : '';
    return `${name} is read as ${this.format}: ${message}. No verdict${hint}`;
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

/** Bytes that one read of a regular file takes at least. Each read costs as much as copying 400 kB (measured). */
const READ_AHEAD_BYTES = 2 ** 20;

/** Regular files, pipes and devices. Only regular files are read ahead: others may have to wait for their bytes. */
class FileSource implements ByteSource {
  readonly name: string;
  readonly sizeBytes: number | undefined;
  readonly #handle: FileHandle;
  readonly #chunk: Buffer;
  /** The part of the chunk that is not yet taken. */
  #ahead: Uint8Array = new Uint8Array(0);

  constructor(name: string, handle: FileHandle, sizeBytes: number | undefined) {
    this.name = name;
    this.#handle = handle;
    this.sizeBytes = sizeBytes;
    this.#chunk = Buffer.alloc(Math.min(sizeBytes ?? 0, READ_AHEAD_BYTES));
  }

  async read(into: Uint8Array): Promise<number> {
    if (this.#ahead.length === 0) {
      if (into.length >= this.#chunk.length) return this.#readFile(into);
      this.#ahead = this.#chunk.subarray(0, await this.#readFile(this.#chunk));
    }
    const part = this.#ahead.subarray(0, into.length);
    into.set(part);
    part.fill(0);
    this.#ahead = this.#ahead.subarray(part.length);
    return part.length;
  }

  async #readFile(into: Uint8Array): Promise<number> {
    try {
      return (await this.#handle.read(into)).bytesRead;
    } catch (error) {
      throw unreadable(this.name, error);
    }
  }

  async close(): Promise<void> {
    // Waits for a read in progress, which would fill the chunk again.
    await this.#handle.close();
    this.#chunk.fill(0);
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
  throw new CommandError(`${file} is a directory, not a file`, 2);
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
    part.fill(0);
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
    this.#chunk.fill(0);
    process.stdin.destroy();
  }
}

function unreadable(name: string, error: unknown): CommandError {
  return new CommandError(`${name} cannot be read: ${reasonOf(error)}`, 2);
}
