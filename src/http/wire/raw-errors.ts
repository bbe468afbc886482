/**
 * Answers requests that never reach the framework: malformed HTTP, oversized headers, stalled requests,
 * expectations and CONNECT. They too get a problem body, written directly to the socket.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../../clock.ts';
import { AppError, ERRORS, type ErrorCode } from '../../errors.ts';
import { STATUS_CODES } from '../../node-http.ts';
import type { AccessLog } from '../access-log.ts';
import { peerAddress } from '../client-address.ts';
import type { CorsHeaders } from '../cors.ts';
import type { RequestObserver } from '../observe.ts';
import { noteExpectation } from './framing.ts';
import { PROBLEM_TYPE, problemBody, problemHeaders } from './problem.ts';

interface RawContext {
  readonly clock: Clock;
  readonly logger: FastifyBaseLogger;
  readonly observer: RequestObserver;
  readonly accessLog: AccessLog;
}

/** What Node says about a request that its parser refused. */
interface ParserFailure {
  readonly code?: string;
  /** The bytes in which it was found, after others of earlier requests. The framework declares them as JSON. */
  readonly rawPacket?: unknown;
  /** The number of these bytes before the failure. */
  readonly bytesParsed?: number;
}

/** The start of a request line (RFC 9112 §3): a method, and the first byte of its target. Other protocols begin otherwise. */
const REQUEST_START = /^[!#$%&'*+.^_`|~\w-]{1,64} [!-~]/;

/** Returns the error for a `clientError` event of Node. */
export function parserError(error: ParserFailure, socket: Duplex): AppError {
  return new AppError(parserErrorCode(error, socket));
}

function parserErrorCode(error: ParserFailure, socket: Duplex): ErrorCode {
  const { code } = error;
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (code === 'HPE_INVALID_METHOD' && REQUEST_START.test(lineOf(error))) {
    return 'method_not_implemented';
  }
  if (code === 'HPE_PAUSED_H2_UPGRADE') return 'http_version_not_supported';
  // RFC 9112 §2.3: a version has two digits. Everything else is none.
  if (code === 'HPE_INVALID_VERSION' && / HTTP\/\d\.\d$/.test(lineOf(error))) {
    return 'http_version_not_supported';
  }
  // The parser accepts a request with unknown codings and then finds no end of its body. It refuses
  // codings that are invalid in themselves, such as chunked before another one.
  const request = inFlight.get(socket)?.req;
  const isLetThrough = request?.complete === false && 'transfer-encoding' in request.headers;
  if (code === 'HPE_INVALID_TRANSFER_ENCODING' && isLetThrough) {
    return 'unsupported_transfer_encoding';
  }
  return 'malformed_request';
}

/** Returns the line in which the parser failed. */
function lineOf({ rawPacket, bytesParsed = 0 }: ParserFailure): string {
  if (!(rawPacket instanceof Uint8Array)) return '';
  const text = Buffer.from(rawPacket).toString('latin1');
  const start = text.slice(0, bytesParsed).trimEnd().lastIndexOf('\n') + 1;
  return text.slice(start).split('\r\n', 1)[0] ?? '';
}

/** The response in progress, by connection: a later error must not overtake it. */
const inFlight = new WeakMap<Duplex, ServerResponse>();

/**
 * Answers a request that the parser refused: writes a problem as a complete HTTP response and closes the
 * connection. If an earlier response is in progress, it first waits for its end.
 */
export function answerRaw(socket: Duplex, error: AppError, context: RawContext): void {
  const earlier = inFlight.get(socket);
  const isOut = !earlier || earlier.writableFinished || earlier.destroyed;
  // If that response belongs to an incomplete request, this error is about the same request: answer now.
  if (isOut || (!earlier.req.complete && !earlier.headersSent)) writeRaw(socket, error, context);
  else earlier.once('close', () => writeRaw(socket, error, context));
}

function writeRaw(socket: Duplex, error: AppError, context: RawContext): void {
  if (!socket.writable || wasAnswered(socket, error)) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = render(socket, error, context);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`);
}

/** Returns the complete response, after logging a line with its request ID. */
function render(
  socket: Duplex,
  error: AppError,
  { clock, logger, observer, accessLog }: RawContext,
) {
  observer.problem(error);
  const requestId = randomUUID();
  const { status } = ERRORS[error.code];
  const client = socket instanceof Socket ? peerAddress({ socket, headers: {} }) : undefined;
  if (accessLog.admits(status, error.code)) {
    logger.info({ reqId: requestId, client, code: error.code, status }, 'request');
  }
  const body = JSON.stringify(problemBody(error, { requestId, nowMs: clock.nowMs() }));
  const headers = {
    ...problemHeaders(error),
    'content-type': PROBLEM_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    date: new Date(clock.nowMs()).toUTCString(),
    connection: 'close',
  };
  return { status, headers, body };
}

/**
 * Reports whether the request already has its response. A request may be refused before its body arrives, and the body
 * may then stall or be malformed. The client would take a second response for the response to its next request.
 */
function wasAnswered(socket: Duplex, { code }: AppError): boolean {
  const last = inFlight.get(socket);
  if (last?.headersSent && !last.req.complete) return true;
  return code === 'request_timeout' && socket instanceof Socket && socket.bytesWritten > 0;
}

/** Handles the events that Node would answer with an empty body, or not at all. */
export function handleRawEvents(server: Server, cors: CorsHeaders, context: RawContext): void {
  server.on('request', (request, response) => inFlight.set(request.socket, response));
  const refuse = (request: IncomingMessage, response: ServerResponse) => {
    const error = new AppError('expectation_failed');
    const { status, headers, body } = render(request.socket, error, context);
    response.writeHead(status, { ...headers, ...cors(request.headers.origin) }).end(body);
  };
  server.on('checkExpectation', refuse);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (noteExpectation(request)) server.emit('request', request, response);
    else refuse(request, response);
  });
  server.on('connect', (_request, socket) => {
    const detail = 'This server is not a proxy and does not support CONNECT.';
    const remedy = 'Use GET or POST.';
    const error = new AppError('method_not_allowed', { detail, remedy, allow: ['GET', 'POST'] });
    answerRaw(socket, error, context);
  });
}
