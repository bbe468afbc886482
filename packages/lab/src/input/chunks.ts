/** Inputs that arrive in chunks: blobs, streams of the web and of Node, and async iterables. */
import { described, kindOf } from '../../../sp800-22/src/arguments.ts';
import { AssessError } from '../assess/errors.ts';
import { isTurnOver, nextTurn } from '../turns.ts';
import { bytesOf } from './bytes.ts';
import type { BlobSource, ByteSource, NodeStream, StreamSource } from './kinds.ts';

/** Chunks, one after the other. */
interface Chunks {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  /** Ends the source, also while `next` waits, and does not wait for it. */
  close(): void;
}

/** Takes a chunk only when the one before is used, so that a fast stream waits. */
export class ChunkSource implements ByteSource {
  readonly sizeBytes: number | undefined;
  readonly #chunks: Chunks;
  #chunk: Uint8Array = new Uint8Array(0);
  #isClosed = false;

  constructor(chunks: Chunks, sizeBytes?: number) {
    this.#chunks = chunks;
    this.sizeBytes = sizeBytes;
  }

  async read(into: Uint8Array): Promise<number> {
    while (this.#chunk.length === 0) {
      // A source may send empty chunks for ever.
      if (isTurnOver()) await nextTurn();
      const chunk = this.#isClosed ? null : await this.#next();
      if (chunk === null) return 0;
      this.#chunk = chunk;
    }
    const part = this.#chunk.subarray(0, into.length);
    into.set(part);
    this.#chunk = this.#chunk.subarray(part.length);
    return part.length;
  }

  /** Returns the next chunk, or null at the end. */
  async #next(): Promise<Uint8Array | null> {
    const { done, value } = await this.#chunks.next().catch((error: unknown) => {
      throw error instanceof AssessError ? error : unreadable(error);
    });
    if (done) return null;
    const bytes = bytesOf('source', value);
    if (bytes) return bytes;
    const advice = typeof value === 'string' ? ': leave the encoding of the stream out' : '';
    throw new TypeError(`"source" expected chunks of bytes, got ${kindOf(value)}${advice}`);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#chunks.close();
  }
}

function unreadable(error: unknown): AssessError {
  const text = error instanceof Error ? error.message : described(error);
  return new AssessError('unreadable', text, {}, error);
}

/** Calls what ends a source. It may fail or never answer, so the run does not wait for it. */
function endQuietly(end: () => unknown): void {
  void (async () => end())().catch(() => {});
}

/** Bytes of a blob that are in memory at once. */
const BLOB_CHUNK_BYTES = 1_048_576;

export class BlobChunks implements Chunks {
  readonly #blob: BlobSource;
  readonly #size: number;
  #position = 0;

  constructor(blob: BlobSource) {
    this.#blob = blob;
    this.#size = blob.size;
  }

  async next(): Promise<{ done: boolean; value?: Uint8Array }> {
    const start = this.#position;
    const end = Math.min(start + BLOB_CHUNK_BYTES, this.#size);
    if (start === end) return { done: true };
    const value = new Uint8Array(await this.#blob.slice(start, end).arrayBuffer());
    if (value.length !== end - start) {
      const text = `expected ${end - start} bytes of the blob from byte ${start} on, got ${value.length}`;
      throw new AssessError('unreadable', text);
    }
    this.#position = end;
    return { done: false, value };
  }

  close(): void {
    this.#position = this.#size;
  }
}

/** A `ReadableStream`. It stays locked: another reader would start in its middle. */
export class WebChunks implements Chunks {
  readonly #reader: ReturnType<StreamSource['getReader']>;

  constructor(stream: StreamSource) {
    this.#reader = stream.getReader();
  }

  async next(): ReturnType<Chunks['next']> {
    return this.#reader.read();
  }

  close(): void {
    endQuietly(() => this.#reader.cancel());
  }
}

export class IteratorChunks implements Chunks {
  readonly #iterator: AsyncIterator<unknown>;
  #ended = false;

  constructor(iterator: AsyncIterator<unknown>) {
    this.#iterator = iterator;
  }

  async next(): ReturnType<Chunks['next']> {
    try {
      const result = await this.#iterator.next();
      this.#ended = result.done === true;
      return result;
    } catch (error) {
      this.#ended = true;
      throw error;
    }
  }

  close(): void {
    if (!this.#ended) endQuietly(() => this.#iterator.return?.());
  }
}

/** A stream of Node. Its iterator ends it only after the chunk that it waits for, so that `close` destroys it. */
export class NodeChunks implements Chunks {
  readonly #stream: NodeStream;
  #iterator: AsyncIterator<unknown> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(stream: NodeStream) {
    this.#stream = stream;
    // Without a listener, an error before the first read would end the process.
    stream.on('error', (error) => {
      this.#failure ??= { error };
    });
  }

  async next(): ReturnType<Chunks['next']> {
    if (this.#failure) throw this.#failure.error;
    this.#iterator ??= this.#stream[Symbol.asyncIterator]();
    return this.#iterator.next();
  }

  close(): void {
    endQuietly(() => this.#stream.destroy());
    endQuietly(() => this.#iterator?.return?.());
  }
}
