/**
 * Inputs as sources of bytes.
 *
 * Read are bytes in memory, blobs, streams of the web and of Node, async iterables of bytes, and objects that fill a buffer.
 * A message names what else came, and how to give its bytes.
 */
import { described, kindOf } from '../../../sp800-22/src/arguments.ts';
import { AssessError } from '../assess/errors.ts';
import { isTurnOver, nextTurn } from '../turns.ts';
import { type Bytes, bytesOf } from './bytes.ts';
import { BlobChunks, ChunkSource, IteratorChunks, NodeChunks, WebChunks } from './chunks.ts';
import type { BlobSource, ByteSource, NodeStream, Source, StreamSource } from './kinds.ts';

/** Streams and iterators that a run reads or has read, and sources that one reads. A second run would miss bytes. */
const taken = new WeakSet<object>();

/** Throws `TypeError` unless `source` is one of the kinds, and is not read yet. */
export function toByteSource(source: Source): ByteSource {
  return new OpenSource(openSource(source));
}

function openSource(source: unknown): ByteSource {
  const bytes = bytesOf('source', source);
  if (bytes) return new BytesSource(bytes);
  if (typeof source !== 'object' || source === null) throw refused(source);
  // Before streams: a blob has no reader. A stream of Node is iterable and has a method `read` of its own.
  if (isBlob(source)) return new ChunkSource(new BlobChunks(source), source.size);
  if (hasMethods(source, 'getReader')) return openWeb(source as StreamSource);
  if (Symbol.asyncIterator in source) return openIterable(source as AsyncIterable<Bytes>);
  if (hasMethods(source, 'read', 'close') && 'sizeBytes' in source) {
    return new GivenSource(source as ByteSource);
  }
  throw refused(source);
}

function isBlob(source: object): source is BlobSource {
  return hasMethods(source, 'slice') && 'size' in source && isSize(source.size);
}

function isSize(size: unknown): size is number {
  return Number.isSafeInteger(size) && Number(size) >= 0;
}

function hasMethods(source: object, ...names: readonly string[]): boolean {
  return names.every((name) => typeof (source as Record<string, unknown>)[name] === 'function');
}

function openWeb(stream: StreamSource): ByteSource {
  if (stream.locked === true) throw notExpected('one that is locked to a reader');
  return new ChunkSource(new WebChunks(stream));
}

function openIterable(source: AsyncIterable<Bytes>): ByteSource {
  if (hasMethods(source, 'on', 'destroy')) return openNode(source as NodeStream);
  const iterator: unknown = source[Symbol.asyncIterator]();
  if (typeof iterator !== 'object' || iterator === null || !hasMethods(iterator, 'next')) {
    throw notExpected('one whose iterator has no "next"');
  }
  take(iterator);
  return new ChunkSource(new IteratorChunks(iterator as AsyncIterator<Bytes>));
}

function openNode(stream: NodeStream): ByteSource {
  take(stream);
  const hasEnded = stream.readableEnded === true || stream.destroyed === true;
  if (hasEnded && !stream.errored) throw notExpected('a stream that has ended');
  return new ChunkSource(new NodeChunks(stream));
}

function take(source: object): void {
  if (taken.has(source)) throw notExpected('one that was given before');
  taken.add(source);
}

function refused(source: unknown): TypeError {
  return notExpected(`${kindOf(source)}${adviceOn(source)}`);
}

function notExpected(what: string): TypeError {
  const expected = 'bytes, a Blob, a stream that is not read yet, or an async iterable of bytes';
  return new TypeError(`"source" expected ${expected}, got ${what}`);
}

/** Returns how to give the bytes of something else. */
function adviceOn(source: unknown): string {
  if (typeof source === 'string') {
    return ': give "new TextEncoder().encode(text)" and its format, or open the file of that name';
  }
  if (typeof source === 'function') return ': give what it returns';
  if (Array.isArray(source)) return ': give "Uint8Array.from(array)", of numbers from 0 to 255';
  if (typeof source !== 'object' || source === null) return '';
  if ('body' in source) return ': give its "body"';
  if ('readable' in source && typeof source.readable === 'object') return ': give its "readable"';
  if (hasMethods(source, 'createReadStream')) return ': give "handle.createReadStream()"';
  return '';
}

/** Lets others have the thread, even if the bytes are always there, and gives nothing after `close`. */
class OpenSource implements ByteSource {
  readonly sizeBytes: number | undefined;
  readonly #source: ByteSource;
  #isClosed = false;

  constructor(source: ByteSource) {
    this.#source = source;
    this.sizeBytes = source.sizeBytes;
  }

  async read(into: Uint8Array): Promise<number> {
    if (isTurnOver()) await nextTurn();
    if (this.#isClosed) throw new AssessError('unreadable', 'the input is closed');
    return this.#source.read(into);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#source.close();
  }
}

class BytesSource implements ByteSource {
  readonly sizeBytes: number;
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.sizeBytes = bytes.length;
  }

  async read(into: Uint8Array): Promise<number> {
    const part = this.#bytes.subarray(this.#position, this.#position + into.length);
    into.set(part);
    this.#position += part.length;
    return part.length;
  }

  async close(): Promise<void> {}
}

/** A source of the caller's, whose answers are checked. */
class GivenSource implements ByteSource {
  readonly sizeBytes: number | undefined;
  readonly #source: ByteSource;

  constructor(source: ByteSource) {
    const { sizeBytes } = source;
    if (sizeBytes !== undefined && !isSize(sizeBytes)) {
      const got = described(sizeBytes);
      throw new TypeError(`"source.sizeBytes" expected a number of bytes or undefined, got ${got}`);
    }
    take(source);
    this.#source = source;
    this.sizeBytes = sizeBytes;
  }

  async read(into: Uint8Array): Promise<number> {
    const count: unknown = await this.#read(into);
    const isCount = Number.isInteger(count) && Number(count) >= 0 && Number(count) <= into.length;
    if (isCount) return Number(count);
    const got = described(count);
    throw new TypeError(`"source.read" expected a count from 0 to ${into.length}, got ${got}`);
  }

  /** What the source throws does not say that an argument is wrong, whatever its class. */
  async #read(into: Uint8Array): Promise<unknown> {
    try {
      return await this.#source.read(into);
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
      throw new AssessError('unreadable', error.message, {}, error);
    }
  }

  async close(): Promise<void> {
    taken.delete(this.#source);
    await this.#source.close();
  }
}
