/** Inputs as sources of bytes. */

/** A `Blob` or `File` of a browser or of Node. */
export interface BlobSource {
  readonly size: number;
  readonly name?: string;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** A `ReadableStream` of bytes. */
export interface StreamSource {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
    cancel(): Promise<void>;
  };
}

/** Bytes that are read on demand. */
export interface ByteSource {
  readonly name?: string;
  /** Undefined for streams. */
  readonly sizeBytes: number | undefined;
  /** Fills `into` from the front. Resolves with the number of bytes read, which is 0 only at the end. */
  read(into: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

export type Source =
  | Uint8Array
  | BlobSource
  | StreamSource
  | AsyncIterable<Uint8Array>
  | ByteSource;

/** Bytes of a blob that are in memory at once. */
const BLOB_CHUNK_BYTES = 1_048_576;

/** Throws `TypeError` unless `source` is one of the kinds. */
export function toByteSource(source: Source): ByteSource {
  if (source instanceof Uint8Array) return new BytesSource(source);
  if (typeof source === 'object' && source !== null) {
    if ('read' in source) return source;
    // Before streams: a blob has no reader, and a stream of Node is iterable.
    if ('slice' in source) return new ChunkSource(chunksOf(source), source.size);
    if (Symbol.asyncIterator in source) return new ChunkSource(source, undefined);
    if ('getReader' in source) return new ChunkSource(chunksOfStream(source), undefined);
  }
  throw new TypeError(
    `"source" expected Uint8Array, Blob, ReadableStream or async iterable, got ${typeof source}`,
  );
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

/** Takes a chunk only when the one before is used, so that a fast stream waits. */
class ChunkSource implements ByteSource {
  readonly sizeBytes: number | undefined;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>, sizeBytes: number | undefined) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.sizeBytes = sizeBytes;
  }

  async read(into: Uint8Array): Promise<number> {
    while (this.#chunk.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return 0;
      if (!(value instanceof Uint8Array)) {
        throw new TypeError(`"source" expected chunks of type Uint8Array, got ${typeof value}`);
      }
      this.#chunk = value;
    }
    const part = this.#chunk.subarray(0, into.length);
    into.set(part);
    this.#chunk = this.#chunk.subarray(part.length);
    return part.length;
  }

  async close(): Promise<void> {
    // Not awaited: an iterator that waits for data answers only after them.
    void this.#chunks.return?.().catch(() => {});
  }
}

async function* chunksOf(blob: BlobSource): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < blob.size; at += BLOB_CHUNK_BYTES) {
    const end = Math.min(at + BLOB_CHUNK_BYTES, blob.size);
    yield new Uint8Array(await blob.slice(at, end).arrayBuffer());
  }
}

async function* chunksOfStream(stream: StreamSource): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value) yield value;
    }
  } finally {
    await reader.cancel();
  }
}
