/** Reads a request body into one buffer. A list of its pieces can take 200 times the memory of their bytes. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';

/** Maximum number of pieces of a body. The largest allowed body then has 64 bytes per piece. */
const MAX_PIECES = 256;

/** Closes the connection of a request whose body arrives in more pieces: a piece of one byte costs about 300 bytes. */
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

/** Reads the body of a request. Rejects with `payload_too_large` beyond `limitBytes`, or with `malformed_request`. */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  if (announced > limitBytes) return Promise.reject(new AppError('payload_too_large'));
  return new Promise((resolve, reject) => {
    // Allocated outside Node's shared pool, because a body may hold a key.
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

const WRONG_LENGTH = 'The length of the body differs from Content-Length.';

/** Returns a copy of the largest allowed size, for a body of unknown length, and overwrites the old bytes. */
function grown(body: Buffer, length: number, limitBytes: number): Buffer {
  const larger = Buffer.alloc(limitBytes);
  body.copy(larger, 0, 0, length);
  body.fill(0);
  return larger;
}
