/** HTTP for systems: mutual TLS, or plain HTTP within the machine. Everything that a caller sends has a limit. */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type Answer, errorAnswer, RequestError } from './answer.ts';
import type { SystemRequest } from './request.ts';
import { type CallerOn, guardOf, type Security } from './security.ts';

interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly security: Security;
  readonly answer: (request: SystemRequest) => Promise<Answer>;
  readonly events: ListenerEvents;
}

export interface ListenerEvents {
  answered(status: number): void;
  /** A defect: the caller got 503. */
  failed(error: unknown): void;
  /** A connection from this address did not show who calls. */
  handshakeFailed(address: string, reason: string): void;
}

/** A batch of 128 key IDs takes 10 KiB. */
const MAX_BODY_BYTES = 64 * 1024;

const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  // The name that a caller gives to this listener means nothing; without one, Node would answer without a message.
  requireHostHeader: false,
} as const;

const MAX_CONNECTIONS = 256;

/** So that one machine, which may be nobody's router, does not keep out all others. */
const MAX_CONNECTIONS_OF_ADDRESS = 32;
const MAX_REQUESTS_PER_SOCKET = 10_000;

/** For requests in progress when the agent stops. */
const DRAIN_MS = 10_000;

export interface Listener {
  readonly address: AddressInfo;
  /** Takes no more requests, and resolves once those in progress have ended. */
  close(): Promise<void>;
}

/** Resolves once it listens. Rejects with the error of the system, or of TLS for unusable certificates. */
export async function listen(given: ListenerOptions): Promise<Listener> {
  const server = serverOf(given);
  server.maxConnections = MAX_CONNECTIONS;
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET;
  server.on('clientError', refuse);
  server.on('connection', limitOfAddress());
  server.on('tlsClientError', ({ code = 'unknown' }: NodeJS.ErrnoException, socket: TLSSocket) => {
    given.events.handshakeFailed(socket.remoteAddress ?? 'unknown', code);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(given.port, given.host, resolve);
  });
  return { address: server.address() as AddressInfo, close: () => close(server) };
}

/** Ends connections of an address that has too many. */
function limitOfAddress(): (socket: Socket) => void {
  const counts = new Map<string, number>();
  return (socket) => {
    const address = socket.remoteAddress ?? '';
    const count = (counts.get(address) ?? 0) + 1;
    counts.set(address, count);
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    });
    if (count > MAX_CONNECTIONS_OF_ADDRESS) socket.destroy();
  };
}

function serverOf(given: ListenerOptions): Server {
  const { tls, callerOn } = guardOf(given.security);
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    void handle(given, callerOn, request, response);
  };
  return tls === null ? createServer(LIMITS, serve) : createTlsServer({ ...LIMITS, ...tls }, serve);
}

const REFUSALS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the header is too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request did not come in time'],
};

/** Answers what is no HTTP request, with a message as all errors have, and ends the connection. */
function refuse({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, message] = REFUSALS[code] ?? [400, 'this is no HTTP request'];
  const body = JSON.stringify({ message });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(timer);
}

async function handle(
  { answer, events }: ListenerOptions,
  callerOn: CallerOn,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '', url = '' } = request;
  const caller = callerOn(request.socket);
  const body = (): Promise<string> => readBody(request);
  const made = await answer({ method, target: url, caller, body }).catch((error: unknown) => {
    events.failed(error);
    return errorAnswer(new RequestError(503, 'a defect of the agent'));
  });
  events.answered(made.status);
  send(made, request, response);
}

/** Rejects with `RequestError`. What follows the limit stays unread. */
function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= MAX_BODY_BYTES) return;
      request.pause();
      reject(new RequestError(413, `the body shall have at most ${MAX_BODY_BYTES} bytes`));
    });
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.once('error', () => reject(new RequestError(400, 'the body was not sent whole')));
  });
}

/** Sends the answer, and wipes it once the system has it. */
function send(
  { status, body, headers }: Answer,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const wipe = (): void => {
    body.fill(0);
  };
  response.once('finish', wipe);
  response.once('close', wipe);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    // What was not read of a body must not be taken for the next request.
    ...(request.complete ? {} : { Connection: 'close' }),
    ...headers,
  });
  response.end(body);
}
