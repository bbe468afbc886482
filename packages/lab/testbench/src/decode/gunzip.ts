/** Decompresses gzip, and says what is wrong with a file in the same words in every browser. */

/** A gzip that cannot be decompressed as a whole. What was decompressed before may be a part, or wrong. */
export class GzipError extends Error {
  override readonly name = 'GzipError';
}

/**
 * How Chromium, Firefox and Safari say that bytes follow the first member. RFC 1952 §2.2 lets another member follow, as after
 * `cat a.gz b.gz`, but `DecompressionStream` reads one and does not say where it ends.
 */
const HAS_MORE = /(?:after|past) (?:the )?end/i;

/** Returns the content of a file with one member. Fails with `GzipError`, or as the reading of the file fails. */
export function gunzip(file: Blob): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        // The standard has `TypeError` for faults of the gzip, and no other for files that cannot be read.
        controller.error(error instanceof TypeError ? gzipError(error.message) : error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function gzipError(message: string): GzipError {
  const text = HAS_MORE.test(message)
    ? 'the gzip has several members, or other data after the first: decompress the file first'
    : `the gzip is damaged or incomplete: ${message}`;
  return new GzipError(text);
}
