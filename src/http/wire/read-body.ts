/** Reads a request body into one buffer. A list of its pieces can take 200 times the memory of their bytes. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';
import { IncomingMessage as NodeRequest } from '../../node-http.ts';

/** Maximum number of pieces of a body. The largest allowed body then has 64 bytes per piece. */
const MAX_PIECES = 256;

/** A request that closes its connection if the body arrives in more pieces: a piece of one byte costs about 300 bytes. */
export class BoundedRequest extends NodeRequest {
  #pieces = 0;

  override push(piece: unknown, encoding?: BufferEncoding): boolean {
    if (piece === null) return super.push(null);
    this.#pieces += 1;
    if (this.#pieces <= MAX_PIECES) return super.push(piece, encoding);
    this.socket.destroy();
    return false;
  }
}

/** Called once, with the error or the body. */
type BodyListener = (error: AppError | null, body: Buffer) => void;

const NOTHING = Buffer.alloc(0);

/** Reads the body of a request. Fails with `payload_too_large` beyond `limitBytes`, or with `malformed_request`. */
export function readBody(request: IncomingMessage, limitBytes: number, done: BodyListener): void {
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  if (announced > limitBytes) {
    done(new AppError('payload_too_large'), NOTHING);
    return;
  }
  // A small body comes in one segment with its headers, and Node's parser has read both by the next tick.
  process.nextTick(() => {
    if (request.readableLength !== announced) gather(request, announced, limitBytes, done);
    else done(null, readAll(request, announced));
  });
}

/** Returns the bytes that have arrived, which are the whole body. `resume` then lets the request end. */
function readAll(request: IncomingMessage, length: number): Buffer {
  const first = request.read() as Buffer | null;
  const body = first && first.length < length ? joined(request, first, length) : first;
  request.resume();
  return body ?? NOTHING;
}

/** Returns the first piece of a body with the later ones. `read` returns one piece for each call. */
function joined(request: IncomingMessage, first: Buffer, length: number): Buffer {
  // Allocated outside Node's shared pool, because a body may hold a key.
  const body = Buffer.alloc(length);
  let used = 0;
  for (let piece: Buffer | null = first; piece; piece = request.read() as Buffer | null) {
    used += piece.copy(body, used);
  }
  return body;
}

/** Reads a body whose pieces have not all arrived, or whose length is unknown. */
function gather(
  request: IncomingMessage,
  announced: number,
  limitBytes: number,
  done: BodyListener,
): void {
  // Allocated outside Node's shared pool, because a body may hold a key.
  let body: Buffer = Buffer.alloc(Number.isNaN(announced) ? 0 : announced);
  let length = 0;
  const onData = (chunk: Buffer) => {
    if (length + chunk.length > limitBytes) {
      end();
      done(new AppError('payload_too_large'), NOTHING);
      return;
    }
    if (length + chunk.length > body.length) body = grown(body, length, limitBytes);
    length += chunk.copy(body, length);
  };
  const onEnd = (error?: Error) => {
    end();
    if (error) done(new AppError('malformed_request', { cause: error }), NOTHING);
    else if (Number.isNaN(announced) || length === announced) done(null, body.subarray(0, length));
    else done(new AppError('malformed_request', { detail: WRONG_LENGTH }), NOTHING);
  };
  const end = () => request.off('data', onData).off('end', onEnd).off('error', onEnd);
  request.on('data', onData).on('end', onEnd).on('error', onEnd).resume();
}

const WRONG_LENGTH = 'The length of the body differs from Content-Length.';

/** Returns a copy of the largest allowed size, for a body of unknown length, and overwrites the old bytes. */
function grown(body: Buffer, length: number, limitBytes: number): Buffer {
  const larger = Buffer.alloc(limitBytes);
  body.copy(larger, 0, 0, length);
  body.fill(0);
  return larger;
}
