/** How a listener is protected, and who calls on it. */
import { constants, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket, type TlsOptions } from 'node:tls';
import { callerOf } from './caller.ts';

export interface Tls {
  /** PEM: the listener's certificate chain and its private key. */
  readonly certificate: string;
  readonly key: string;
  /** PEM: the authorities whose clients are let in. */
  readonly clientAuthorities: string;
}

/** Mutual TLS, TLS with the pre-shared key of each system by its name, or plain HTTP on which all callers are one system. */
export type Security =
  | { readonly tls: Tls }
  | { readonly psk: ReadonlyMap<string, Uint8Array> }
  | { readonly caller: string };

/** Returns the name of the system behind a connection; null if it has none. */
export type CallerOn = (socket: Socket) => string | null;

interface Guard {
  /** Null for plain HTTP. */
  readonly tls: TlsOptions | null;
  readonly callerOn: CallerOn;
}

const HANDSHAKE_MS = 10_000;

const COMMON: TlsOptions = {
  minVersion: 'TLSv1.2',
  handshakeTimeout: HANDSHAKE_MS,
  // A resumed session would not show again who calls; a renegotiated one could show somebody else.
  secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
};

/**
 * Suites of TLS 1.2 that mix a pre-shared key (RFC 4279, RFC 5489, RFC 7905) with an ephemeral exchange, so that a key that leaks later
 * opens no recorded connection. The last two are those of SKIP's Table 1. TLS 1.3 is left out: its suite in that table needs SHA-384, and
 * Node's pre-shared keys of TLS 1.3 are of SHA-256 alone.
 */
const PSK_SUITES = [
  'DHE-PSK-AES256-GCM-SHA384',
  'ECDHE-PSK-CHACHA20-POLY1305',
  'ECDHE-PSK-AES256-CBC-SHA384',
  'DHE-PSK-AES256-CBC-SHA384',
  'DHE-PSK-AES256-CBC-SHA',
].join(':');

export function guardOf(security: Security): Guard {
  if ('caller' in security) return { tls: null, callerOn: () => security.caller };
  return 'tls' in security ? certificateGuard(security.tls) : pskGuard(security.psk);
}

function certificateGuard({ certificate, key, clientAuthorities }: Tls): Guard {
  const own = { cert: certificate, key, ca: clientAuthorities };
  return {
    tls: { ...COMMON, ...own, requestCert: true, rejectUnauthorized: true },
    callerOn: (socket) => {
      const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
      return shown === undefined ? null : callerOf(shown);
    },
  };
}

function pskGuard(keys: ReadonlyMap<string, Uint8Array>): Guard {
  const callers = new WeakMap<Socket, string>();
  // An unknown name fails as a wrong key does (RFC 4279 §2): nobody learns which names there are.
  const unknown = randomBytes(32);
  const pskCallback = (socket: TLSSocket, identity: string): Uint8Array => {
    callers.set(socket, identity);
    return keys.get(identity) ?? unknown;
  };
  return {
    tls: { ...COMMON, maxVersion: 'TLSv1.2', ciphers: PSK_SUITES, dhparam: 'auto', pskCallback },
    callerOn: (socket) => callers.get(socket) ?? null,
  };
}
