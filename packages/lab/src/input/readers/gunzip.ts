/** Decompresses gzip, and says what is wrong with a file in the same words in every browser. */
import { AssessError } from '../../assess/errors.ts';
import type { ByteSource } from '../kinds.ts';

/**
 * How Node, Chromium, Firefox and Safari say that bytes follow the first member. RFC 1952 §2.2 lets another member follow, as
 * after `cat a.gz b.gz`, but `DecompressionStream` reads one and does not say where it ends.
 */
const HAS_MORE = /(?:after|past) (?:the )?end/i;

/** Compressed bytes that are decompressed at once: what they give, at most 1,032 times as many bytes, is in memory. */
const CHUNK_BYTES = 16_384;

/** Yields the content of a gzip with one member. Its reading rejects with `AssessError` if the gzip is damaged. */
export class GunzipSource implements ByteSource {
  readonly sizeBytes = undefined;
  readonly #source: ByteSource;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Why the gzip itself cannot be read, which is no damage. */
  #failure: { readonly error: unknown } | null = null;
  #ahead: Uint8Array = new Uint8Array(0);
  #isClosed = false;

  constructor(source: ByteSource) {
    this.#source = source;
    const compressed = new ReadableStream<Uint8Array<ArrayBuffer>>(
      { pull: (controller) => this.#pull(controller) },
      { highWaterMark: 0 },
    );
    this.#reader = compressed.pipeThrough(new DecompressionStream('gzip')).getReader();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    try {
      const chunk = new Uint8Array(CHUNK_BYTES);
      const count = this.#isClosed ? 0 : await this.#source.read(chunk);
      if (count === 0) controller.close();
      else controller.enqueue(chunk.subarray(0, count));
    } catch (error) {
      this.#failure = { error };
      controller.error(error);
    }
  }

  async read(into: Uint8Array): Promise<number> {
    while (this.#ahead.length === 0) {
      const { done, value } = await this.#next();
      if (done || !value) return 0;
      this.#ahead = value;
    }
    const part = this.#ahead.subarray(0, into.length);
    into.set(part);
    part.fill(0);
    this.#ahead = this.#ahead.subarray(part.length);
    return part.length;
  }

  async #next(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> {
    try {
      return await this.#reader.read();
    } catch (error) {
      throw this.#failure ? this.#failure.error : damaged(error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#ahead.fill(0);
    void this.#reader.cancel().catch(() => {});
    await this.#source.close();
  }
}

/** What was decompressed before may be a part, or wrong. */
function damaged(error: unknown): AssessError {
  const { message, cause } = error as Error;
  const said = message.trim() || (cause instanceof Error ? cause.message : '');
  const text = HAS_MORE.test(said)
    ? 'the gzip has several members, or other data after the first: decompress the file first'
    : `the gzip is damaged or incomplete: ${said}`;
  return new AssessError('damaged', text, {}, error);
}
