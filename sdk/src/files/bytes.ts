/** Sources of bytes: what a caller gives, read in the pieces that the format has. */
import { EncryptedFileError } from './errors.ts';

/** A stream of bytes, as `fetch`, `Blob`, Node's streams and generators give it. */
export type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** Returns the chunks of a stream. Leaving the loop cancels it. Throws `TypeError` for anything else, such as a path. */
export function chunksOf(source: ByteStream): AsyncIterable<Uint8Array> {
  if (typeof source === 'object' && source !== null) {
    // Safari's ReadableStream is not iterable.
    if ('getReader' in source) return readAll(source);
    if (Symbol.asyncIterator in source) return source;
  }
  throw new TypeError(
    `the source must be a ReadableStream or an async iterable of Uint8Array, got ${typeof source}`,
  );
}

async function* readAll(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isDone = done;
      if (value === undefined) return;
      yield value;
    }
  } finally {
    if (!isDone) await reader.cancel();
    reader.releaseLock();
  }
}

/**
 * Returns a stream of what a generator yields. Cancelling it ends the generator. The stream asks for the first chunk at
 * once: a generator that has not begun would wipe nothing when it ends.
 */
export function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

/** One piece of a source. */
interface Piece {
  /** Valid until the next piece is asked for. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
}

/** Cuts a source into one piece of `first` bytes and others of `size`. Only the last may be shorter; there is always one. */
export async function* cut(
  source: AsyncIterable<Uint8Array>,
  { first, size }: { readonly first: number; readonly size: number },
): AsyncGenerator<Piece> {
  const buffer = new Uint8Array(Math.max(first, size));
  let [have, wanted] = [0, first];
  try {
    for await (const chunk of source) {
      assertBytes(chunk);
      let at = 0;
      // A full piece waits for one more byte, which shows that it is not the last.
      while (have + chunk.length - at > wanted) {
        const end = at + wanted - have;
        buffer.set(chunk.subarray(at, end), have);
        yield { bytes: buffer.subarray(0, wanted), isLast: false };
        [at, have, wanted] = [end, 0, size];
      }
      buffer.set(chunk.subarray(at), have);
      have += chunk.length - at;
    }
    yield { bytes: buffer.subarray(0, have), isLast: true };
  } finally {
    buffer.fill(0);
  }
}

function assertBytes(chunk: unknown): asserts chunk is Uint8Array {
  if (chunk instanceof Uint8Array) return;
  throw new TypeError(`the source must yield Uint8Array, got ${typeof chunk}`);
}

const LINE_END = 0x0a;

/** Reads lines from the start of a source, and leaves the rest. */
export class LineReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #left: Uint8Array = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Returns a line without its end, or null if none ends within `maxBytes`. */
  async line(maxBytes: number): Promise<string | null> {
    for (;;) {
      const end = this.#left.subarray(0, maxBytes + 1).indexOf(LINE_END);
      if (end >= 0) {
        const text = new TextDecoder().decode(this.#left.subarray(0, end));
        this.#left = this.#left.subarray(end + 1);
        return text;
      }
      if (this.#left.length > maxBytes) return null;
      const { done, value } = await this.#chunks.next();
      if (done) return null;
      assertBytes(value);
      this.#left = joined(this.#left, value);
    }
  }

  /** Yields what follows the lines. */
  async *rest(): AsyncGenerator<Uint8Array> {
    try {
      yield this.#left;
      for (;;) {
        const { done, value } = await this.#chunks.next();
        if (done) return;
        yield value;
      }
    } finally {
      await this.close();
    }
  }

  /** Ends the source. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

export function damaged(what: string): EncryptedFileError {
  return new EncryptedFileError(
    'damaged',
    `The file is damaged: ${what}. Nothing of it was released from there on. Take another copy of it.`,
  );
}
