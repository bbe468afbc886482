/** The server beneath the framework: HTTP/1.1, with TLS or without, its times, and its bound on connections. */

import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { MINUTE_MS } from '../clock.ts';
import type { Connections } from './connections.ts';
import type { TlsOptions } from './tls.ts';

/** Milliseconds that a client has. */
export interface Timeouts {
  /** For its TLS handshake, and for the headers of a request. */
  readonly headersMs: number;
  /** For a whole request. */
  readonly requestMs: number;
  /** To take the next bytes of an answer. */
  readonly stalledMs: number;
  /** To its next request. */
  readonly keepAliveMs: number;
  /** How often the first two are checked. */
  readonly checkEveryMs: number;
}

const DEFAULT_TIMEOUTS: Timeouts = {
  headersMs: 15_000,
  requestMs: 30_000,
  stalledMs: MINUTE_MS,
  keepAliveMs: 72_000,
  checkEveryMs: 5_000,
};

/** Bytes of an answer that wait in this process for a client that does not read, beyond those being written. */
const BUFFERED_BYTES = 16 * 1024;

export interface ListenerOptions {
  readonly tls: TlsOptions | null;
  readonly timeouts: Partial<Timeouts>;
  readonly connections: Connections;
}

/** Makes the server. The caller listens and closes. */
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
    // A missing Host header is answered by a hook, with a problem body.
    requireHostHeader: false,
  };
  const serve = connections.serve(handle);
  const server = tls
    ? createTlsServer({ ...options, ...tls, handshakeTimeout: headersMs }, serve)
    : createServer(options, serve);
  server.timeout = stalledMs;
  // Before Node's own listener, which may close it.
  server.prependListener('connection', (socket) => connections.accept(socket));
  return server;
}
