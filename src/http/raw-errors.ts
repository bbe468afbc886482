/**
 * Requests that never reach the framework: malformed HTTP, too large headers, requests that stall,
 * expectations and CONNECT. They too are answered with a problem body, straight on the socket.
 */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import { AppError, ERRORS, type ErrorCode } from '../errors.ts';
import { PROBLEM_TYPE, problemBody, problemHeaders } from './problem.ts';

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  417: 'Expectation Failed',
  431: 'Request Header Fields Too Large',
};

/** The error behind Node's `clientError`. */
export function parserErrorCode(error: { code?: string }): ErrorCode {
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  return 'malformed_request';
}

/** Writes a problem as a whole HTTP response and closes the connection. */
export function answerRaw(socket: Duplex, error: AppError, clock: Clock): void {
  if (!socket.writable || wasAnswered(socket, error)) {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const body = JSON.stringify(problemBody(error, { requestId, nowMs: clock.nowMs() }));
  const { status } = ERRORS[error.code];
  const headers = {
    ...problemHeaders(error),
    'content-type': PROBLEM_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\n${head.join('')}\r\n${body}`);
}

/**
 * A request that was refused before its body arrived and then stalls has had its answer: a second
 * one would be taken for the answer to the client's next request.
 */
function wasAnswered(socket: Duplex, { code }: AppError): boolean {
  return code === 'request_timeout' && socket instanceof Socket && socket.bytesWritten > 0;
}

/** Takes over what Node would answer by itself with an empty body, or not at all. */
export function handleRawEvents(server: Server, clock: Clock): void {
  server.on('checkExpectation', (request) => {
    answerRaw(request.socket, new AppError('expectation_failed'), clock);
  });
  server.on('connect', (_request, socket) => {
    answerRaw(socket, new AppError('method_not_allowed', { allow: ['GET', 'POST'] }), clock);
  });
}
