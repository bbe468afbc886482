/** Decoders that the page has beside those of the package. */

/** A text that is not of its format. The message says where. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** Turns the chunks of a text into bytes. Both methods throw `DecodeError`. */
export interface Decoder {
  push(chunk: Uint8Array): Uint8Array<ArrayBuffer>;
  /** Returns the bytes that waited for the end. */
  end(): Uint8Array<ArrayBuffer>;
}

/** Returns a stream that decodes what is written to it. */
export function decoding(decoder: Decoder): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  return new TransformStream({
    transform: (chunk, controller) => controller.enqueue(decoder.push(chunk)),
    flush: (controller) => controller.enqueue(decoder.end()),
  });
}
