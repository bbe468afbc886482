/** Reads a request body into one buffer. A list of its pieces can take 200 times as much as the bytes in them. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';

/** Pieces that a body may come in. The largest that is allowed has 64 bytes in each then. */
const MAX_PIECES = 256;

/** Closes the connection of a request whose body comes in more pieces: each one of a single byte costs some 300 bytes. */
export function boundPieces(request: IncomingMessage): void {
  const push = request.push.bind(request);
  let pieces = 0;
  request.push = (piece, encoding) => {
    if (piece === null) return push(null);
    pieces += 1;
    if (pieces <= MAX_PIECES) return push(piece, encoding);
    request.socket.destroy();
    return false;
  };
}

/** The body of a request that carries one, of at most `limitBytes`. */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  if (announced > limitBytes) return Promise.reject(new AppError('payload_too_large'));
  return new Promise((resolve, reject) => {
    // Memory of its own: a body may hold a key.
    let body: Buffer = Buffer.alloc(Number.isNaN(announced) ? 0 : announced);
    let length = 0;
    const onData = (chunk: Buffer) => {
      if (length + chunk.length > limitBytes) {
        end();
        reject(new AppError('payload_too_large'));
        return;
      }
      if (length + chunk.length > body.length) body = grown(body, length, limitBytes);
      length += chunk.copy(body, length);
    };
    const onEnd = (error?: Error) => {
      end();
      if (error) reject(new AppError('malformed_request', { cause: error }));
      else if (Number.isNaN(announced) || length === announced) resolve(body.subarray(0, length));
      else reject(new AppError('malformed_request', { detail: WRONG_LENGTH }));
    };
    const end = () => request.off('data', onData).off('end', onEnd).off('error', onEnd);
    request.on('data', onData).on('end', onEnd).on('error', onEnd).resume();
  });
}

const WRONG_LENGTH = 'The body does not have the length that Content-Length announces.';

/** All that a body may take, for one of unknown length: the old bytes are overwritten. */
function grown(body: Buffer, length: number, limitBytes: number): Buffer {
  const larger = Buffer.alloc(limitBytes);
  body.copy(larger, 0, 0, length);
  body.fill(0);
  return larger;
}
