/** Counts failed TLS handshakes, and logs a limited number of them. */
import type { Socket } from 'node:net';
import { Server, type TLSSocket } from 'node:tls';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { HandshakeFailure } from '../telemetry/index.ts';
import type { AccessLog } from './access-log.ts';
import { peerAddress } from './client-address.ts';
import type { RequestObserver } from './observe.ts';

interface HandshakeContext {
  readonly logger: FastifyBaseLogger;
  readonly observer: RequestObserver;
  readonly accessLog: AccessLog;
}

/** Reasons by Node's error codes: codes of OpenSSL, and of connections that close during the handshake. */
const FAILURES: Readonly<Record<string, HandshakeFailure>> = {
  ERR_SSL_NO_SUITABLE_KEY_SHARE: 'no_shared_group',
  ERR_SSL_NO_SHARED_CIPHER: 'no_shared_cipher',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'old_version',
  ERR_SSL_HTTP_REQUEST: 'cleartext',
  ECONNRESET: 'incomplete',
  EPIPE: 'incomplete',
  ERR_TLS_HANDSHAKE_TIMEOUT: 'incomplete',
};

/** Counts and logs failed handshakes of a listener with TLS. */
export function watchHandshakes({ server }: FastifyInstance, context: HandshakeContext): void {
  if (!(server instanceof Server)) return;
  // Node asks the operating system once, and keeps the answer.
  server.prependListener('connection', ({ remoteAddress }: Socket) => remoteAddress);
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    const reason = failureOf(error.code ?? '');
    context.observer.events?.handshakeFailed(reason);
    // Load balancers open and close a connection to check the listener.
    if (reason === 'incomplete' || !context.accessLog.admitsHandshake(reason)) return;
    const client = peerAddress({ socket: connectionOf(socket), headers: {} });
    context.logger.info({ client, reason, code: error.code }, 'TLS handshake failed');
  });
}

/**
 * Returns the TCP connection below TLS. A TLS socket forgets its peer when it closes, which may be before its error
 * arrives; the connection has been asked for it on arrival and remembers. Node has no public name for it.
 */
function connectionOf(socket: TLSSocket): Socket {
  return (socket as { _parent?: Socket })._parent ?? socket;
}

function failureOf(code: string): HandshakeFailure {
  if (Object.hasOwn(FAILURES, code)) return FAILURES[code] ?? 'other';
  return /_ALERT_/.test(code) ? 'refused_by_client' : 'other';
}
