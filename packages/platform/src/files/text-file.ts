/**
 * The one way to read a text of a user: UTF-8 with or without a byte order mark, with the line ends of any system. Everything
 * else is refused by name, so that an editor's encoding never looks like a forged receipt or a wrong key.
 */
import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';

/** Bytes that are no text which can be read. The message says what they are; it quotes none of them. */
export class TextError extends Error {
  override readonly name = 'TextError';
}

/** Most bytes of a text, unless the caller says otherwise. */
const MAX_BYTES = 2 ** 20;

/** Returns the text of a file. Throws the error of the file system, or `TextError`. */
export function readTextFile(path: string, maxBytes: number = MAX_BYTES): string {
  const bytes = readBounded(path, maxBytes);
  if (bytes === null) throw tooLong(maxBytes);
  return takeText(bytes);
}

/** Resolves with the text of a stream. Rejects with `TextError`, or as the stream does. */
export async function readTextStream(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number = MAX_BYTES,
): Promise<string> {
  const bytes = await readStreamBounded(stream, maxBytes);
  if (bytes === null) throw tooLong(maxBytes);
  return takeText(bytes);
}

/** Returns the text, without a byte order mark and with `\n` as its line end. Throws `TextError`. */
export function decodeText(bytes: Uint8Array): string {
  const encoding = otherEncoding(bytes);
  if (encoding !== null) throw new TextError(`it is ${encoding}, not UTF-8: save it as UTF-8`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new TextError(
      'it is not UTF-8, perhaps Latin-1 or another encoding of one byte a character: save it as UTF-8',
    );
  }
  return plainText(text);
}

/** Returns a text that is decoded already, such as the value of a variable, as `decodeText` does. */
export function plainText(text: string): string {
  return text.replace(/^\ufeff+/, '').replace(/\r\n?/g, '\n');
}

/** UTF-8 has no byte 0xFF and no byte 0xFE, and a text no zero byte. */
function otherEncoding(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  if (start.startsWith('fffe0000') || start.startsWith('0000feff')) return 'UTF-32';
  if (start.startsWith('fffe') || start.startsWith('feff')) return 'UTF-16';
  const zeros = [0, 0];
  for (const [i, byte] of bytes.entries()) if (byte === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (even + odd === 0) return null;
  // Most characters of a text have a code below 256, so that one half of each is zero.
  const isTwoBytes = Math.min(even, odd) === 0 && even + odd > bytes.length / 4;
  return isTwoBytes && bytes.length > 3 ? 'UTF-16' : 'binary data, with zero bytes';
}

function takeText(bytes: Buffer): string {
  try {
    return decodeText(bytes);
  } finally {
    bytes.fill(0);
  }
}

function tooLong(maxBytes: number): TextError {
  const mebibytes = Math.floor(maxBytes / 2 ** 20);
  const most = mebibytes >= 1 ? `${mebibytes} MiB` : `${Math.floor(maxBytes / 2 ** 10)} KiB`;
  return new TextError(`it is longer than the ${most} that it may have`);
}

/** Longest wait for the next bytes of a named pipe. Whoever writes to it may have to type a passphrase first. */
const PIPE_WAIT_MS = 60_000;

/**
 * Returns the content of a file; null if it is longer. Throws the error of the file system, or `TextError` for a named pipe to
 * which nobody writes: opened like a file, it would hold the process for ever, also against Ctrl-C.
 */
export function readBounded(
  path: string,
  maxBytes: number,
  pipeWaitMs = PIPE_WAIT_MS,
): Buffer | null {
  const isPipe = statSync(path).isFIFO();
  const file = openSync(path, constants.O_RDONLY | (isPipe ? constants.O_NONBLOCK : 0));
  const take = isPipe ? new PipeReader(pipeWaitMs) : { read: readSync };
  try {
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let read = 1; read > 0 && length < bytes.length; length += read) {
      read = take.read(file, bytes, length, bytes.length - length, null);
    }
    return length > maxBytes ? null : bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

/** Reads a pipe that was opened without waiting for its other end. */
class PipeReader {
  readonly #waitMs: number;
  #isWritten = false;

  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  /** As `readSync`: 0 means the end. */
  read(file: number, into: Buffer, offset: number, length: number, position: null): number {
    const endMs = performance.now() + this.#waitMs;
    do {
      const read = this.#readNow(() => readSync(file, into, offset, length, position));
      // Without a writer, a pipe is at its end: of what was written, or before anything was.
      if (read !== null && (read > 0 || this.#isWritten)) return read;
      Atomics.wait(SLEEPER, 0, 0, PIPE_POLL_MS);
    } while (performance.now() < endMs);
    const seconds = Math.ceil(this.#waitMs / 1000);
    throw new TextError(`it is a pipe to which nothing was written for ${seconds} s`);
  }

  /** Returns null if there is nothing yet. */
  #readNow(read: () => number): number | null {
    try {
      const count = read();
      if (count > 0) this.#isWritten = true;
      return count;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      this.#isWritten = true;
      return null;
    }
  }
}

const PIPE_POLL_MS = 10;
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

/** Resolves with the content of a stream; with null if it is longer. */
export async function readStreamBounded(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
