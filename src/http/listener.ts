/** The server below the framework: HTTP/1.1 with or without TLS, its timeouts and its limit on connections. */

import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { MINUTE_MS } from '../clock.ts';
import type { TlsOptions } from '../config/tls.ts';
import { createServer } from '../node-http.ts';
import type { Connections } from './connections.ts';
import { BoundedRequest } from './wire/read-body.ts';

/** Timeouts of a client, in milliseconds. */
export interface Timeouts {
  /** Time limit for the TLS handshake, and for the headers of a request. */
  readonly headersMs: number;
  /** Time limit for a whole request. */
  readonly requestMs: number;
  /** Time limit for a client to read the next bytes of a response. */
  readonly stalledMs: number;
  /** Time limit for the next request on the connection. */
  readonly keepAliveMs: number;
  /** Interval at which Node checks the first two. */
  readonly checkEveryMs: number;
}

const DEFAULT_TIMEOUTS: Timeouts = {
  headersMs: 15_000,
  requestMs: 30_000,
  stalledMs: MINUTE_MS,
  keepAliveMs: 72_000,
  checkEveryMs: 5_000,
};

/** Bytes of a response buffered for a client that does not read, besides those being written. */
const BUFFERED_BYTES = 16 * 1024;

interface ListenerOptions {
  readonly tls: TlsOptions | null;
  readonly timeouts: Partial<Timeouts>;
  readonly connections: Connections;
}

/** Creates the server. The caller listens and closes. */
export function createListener(
  handle: RequestListener,
  { tls, timeouts, connections }: ListenerOptions,
): Server {
  const { headersMs, requestMs, stalledMs, keepAliveMs, checkEveryMs } = {
    ...DEFAULT_TIMEOUTS,
    ...timeouts,
  };
  const options = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: checkEveryMs,
    highWaterMark: BUFFERED_BYTES,
    IncomingMessage: BoundedRequest,
    // A hook answers a missing Host header, with a problem body.
    requireHostHeader: false,
  };
  const serve = connections.serve(handle);
  const server = tls
    ? createTlsServer({ ...options, ...tls, handshakeTimeout: headersMs }, serve)
    : createServer(options, serve);
  server.timeout = stalledMs;
  // Before Node's own listener, which may close the socket.
  server.prependListener('connection', (socket) => connections.accept(socket));
  return server;
}
