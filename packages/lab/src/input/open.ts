/** Opens an input in the form that is chosen, or that it is recognised to have. */
import {
  assertOptions,
  callback,
  flag,
  integer,
  type Members,
  text,
} from '../../../sp800-22/src/arguments.ts';
import { DecodedReader, GzipReader } from './decoded-reader.ts';
import { recogniseForm } from './input-format.ts';
import type { ByteSource, Source } from './kinds.ts';
import {
  BinaryReader,
  type ConsumedInput,
  type InputSequence,
  type SequenceReader,
  TextReader,
} from './reader.ts';
import {
  type DecodedReading,
  formatOfRecognised,
  parseFormat,
  type Reading,
} from './readers/table.ts';
import {
  RecognisingSource,
  type Recognition,
  refuseForm,
  refuseListingWithin,
  refuseNoBytes,
  refuseNoDigits,
  type Within,
} from './recognising.ts';
import { toByteSource } from './source.ts';

const RECOGNITION: Members<Recognition> = {
  neededBytes: integer(0, Number.MAX_SAFE_INTEGER),
  accepts: callback,
  isSpread: flag,
};

/** Such as `binary`, `hex`, `u16le:0-7` or `gzip:csv:2`: a name of `FORMS`, with its options. */
export type InputFormat = string;

/**
 * Returns a reader of the input, which the caller MUST close. Without a format, an input that names its own form, such as
 * Intel HEX, is read by it, and any other as binary. Its reader rejects with `AssessError` if the first bytes look like a form
 * that must be chosen or is not read, such as `xz`. Throws `RangeError` if there is no such format.
 */
export function openReader(
  source: Source,
  format?: InputFormat,
  recognition: Recognition = {},
): SequenceReader {
  assertOptions('recognition', recognition, RECOGNITION);
  if (format !== undefined) text('format', format);
  const reading = format === undefined ? null : parseFormat(format);
  const bytes = toByteSource(source);
  return reading ? openAs(bytes, reading, recognition) : new RecognisedReader(bytes, recognition);
}

function openAs(source: ByteSource, reading: Reading, recognition: Recognition): SequenceReader {
  switch (reading.kind) {
    case 'plain':
      return openPlain(source, reading.format, recognition);
    case 'gzip': {
      const { content } = reading;
      return new GzipReader(source, (bytes) =>
        content
          ? openAs(bytes, content, recognition)
          : new RecognisedReader(bytes, { ...recognition, within: 'gzip' }),
      );
    }
    default:
      return openDecoded(source, reading, recognition);
  }
}

function openPlain(
  source: ByteSource,
  format: 'binary' | 'ascii' | 'hex',
  { neededBytes }: Recognition,
): SequenceReader {
  if (format === 'binary') return new BinaryReader(source);
  const check = format === 'hex' ? refuseListingWithin : undefined;
  return new TextReader(new RecognisingSource(source, refuseNoDigits, neededBytes), format, check);
}

function openDecoded(
  source: ByteSource,
  { format, newDecoder, holds }: DecodedReading,
  { isSpread = false, neededBytes }: Recognition,
): SequenceReader {
  const check = (head: Uint8Array): void => refuseNoBytes(head, format);
  const content = (decoded: ByteSource): ByteSource =>
    holds === 'bytes' ? new RecognisingSource(decoded, check, neededBytes) : decoded;
  return new DecodedReader(source, newDecoder({ isSpread }), format, content);
}

/** An input whose first bytes say how it is read. */
class RecognisedReader implements SequenceReader {
  readonly #source: RecognisingSource;
  readonly #recognition: Recognition & Within;
  #reader: SequenceReader | null = null;

  constructor(source: ByteSource, recognition: Recognition & Within) {
    this.#source = new RecognisingSource(source, () => {}, recognition.neededBytes);
    this.#recognition = recognition;
  }

  get format(): string {
    return this.#reader?.format ?? 'binary';
  }

  get sizeBytes(): number | undefined {
    return this.#source.sizeBytes;
  }

  get sizeBits(): number | undefined {
    return this.#reader?.sizeBits;
  }

  get takenBytes(): number {
    return this.#reader?.takenBytes ?? 0;
  }

  consumed(): ConsumedInput {
    return (this.#reader ?? new BinaryReader(this.#source)).consumed();
  }

  async prepare(): Promise<void> {
    await (await this.#open()).prepare?.();
  }

  async finish(): Promise<void> {
    await this.#reader?.finish?.();
  }

  async readSequence(limitBits: number): Promise<InputSequence> {
    return (await this.#open()).readSequence(limitBits);
  }

  async #open(): Promise<SequenceReader> {
    this.#reader ??= await this.#recognise();
    return this.#reader;
  }

  async #recognise(): Promise<SequenceReader> {
    const head = await this.#source.peek();
    const name = recogniseForm(head)?.name ?? '';
    // A gzip that holds itself would never end.
    const isNested = this.#recognition.within !== undefined && name === 'gzip';
    const format = isNested ? undefined : formatOfRecognised(name);
    if (format !== undefined) return openAs(this.#source, parseFormat(format), this.#recognition);
    try {
      refuseForm(head, this.#recognition);
    } catch (error) {
      head.fill(0);
      throw error;
    }
    return new BinaryReader(this.#source);
  }

  close(): Promise<void> {
    return (this.#reader ?? this.#source).close();
  }
}
