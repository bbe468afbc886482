/**
 * Byte strings of many keys or rows, one after another in one buffer, which threads transfer. A buffer of its own for each
 * string costs about a microsecond (bench/messages.ts). Their lengths are known or travel beside the buffer.
 */
import { assertLength } from '../../bytes.ts';
import { ANSWER_DIGEST_BYTES } from '../../keys/answer-digest.ts';
import { wipeKey } from '../../keys/key-receipt.ts';
import type { ReleasedKey } from '../../keys/order.ts';

/** Fills a buffer of the given length. */
export class ByteWriter {
  readonly buffer: ArrayBuffer;
  readonly #bytes: Uint8Array;
  #used = 0;

  constructor(lengthBytes: number) {
    this.buffer = new ArrayBuffer(lengthBytes);
    this.#bytes = new Uint8Array(this.buffer);
  }

  /** Appends bytes. Throws `TypeError` if their length is not the one that the reader expects. */
  add(bytes: Uint8Array, lengthBytes = bytes.length): void {
    assertLength('bytes', bytes, lengthBytes);
    this.#bytes.set(bytes, this.#used);
    this.#used += lengthBytes;
  }

  /** Appends a key, its opening and the digest of its answer, and wipes the given bytes. */
  move(secrets: Secrets): void {
    this.add(secrets.key);
    if (secrets.opening) this.add(secrets.opening);
    this.add(secrets.answerDigest, ANSWER_DIGEST_BYTES);
    wipeKey(secrets);
  }
}

/** Returns views of byte strings in the order in which they were written. */
export class ByteReader {
  readonly #buffer: ArrayBuffer;
  #used = 0;

  constructor(buffer: ArrayBuffer) {
    this.#buffer = buffer;
  }

  take(lengthBytes: number): Buffer<ArrayBuffer> {
    const view = Buffer.from(this.#buffer, this.#used, lengthBytes);
    this.#used += lengthBytes;
    return view;
  }

  /** Returns what `ByteWriter.move` appended. Its `opening` is null for length 0. */
  takeSecrets(keyBytes: number, openingBytes: number): Secrets {
    return {
      key: this.take(keyBytes),
      opening: this.#takeOptional(openingBytes),
      answerDigest: this.take(ANSWER_DIGEST_BYTES),
    };
  }

  /** Returns the next byte string, or null for length 0, which stands for a missing one. */
  #takeOptional(lengthBytes: number): Buffer<ArrayBuffer> | null {
    return lengthBytes === 0 ? null : this.take(lengthBytes);
  }
}

type Secrets = Pick<ReleasedKey, 'key' | 'opening' | 'answerDigest'>;

/** Returns how many bytes `ByteWriter.move` appends. */
export function secretBytes({ key, opening }: Pick<Secrets, 'key' | 'opening'>): number {
  return key.length + (opening?.length ?? 0) + ANSWER_DIGEST_BYTES;
}
