/**
 * TLS options of the listener: TLS 1.3 (RFC 8446), two cipher suites with 256-bit keys, and hybrid key exchange
 * (draft-ietf-tls-ecdhe-mlkem) preferred to elliptic curves alone.
 */
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { type Certificate, readCertificate } from '../config/certificate.ts';
import type { Config } from '../config/index.ts';
import { SetupError } from '../errors.ts';

/** In the server's order. TLS_AES_128_GCM_SHA256 is absent: a 256-bit key must not be sent under a 128-bit one. */
const CIPHER_SUITES: readonly string[] = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** Elliptic curves combined with ML-KEM. The last one is for clients restricted to NIST's curves. */
const HYBRID_GROUPS: readonly string[] = [
  'X25519MLKEM768',
  'SecP384r1MLKEM1024',
  'SecP256r1MLKEM768',
];

/** For clients without ML-KEM. RFC 8446 §9.1 requires P-256; some policies allow P-384 alone. */
const CLASSICAL_GROUPS: readonly string[] = ['X25519', 'P-256', 'P-384'];

/** A certificate, its key, and the options of the listener. */
export type TlsOptions = Certificate &
  Pick<SecureContextOptions, 'minVersion' | 'ciphers' | 'ecdhCurve' | 'honorCipherOrder'>;

/**
 * Reads the certificate and its key and checks all options, before anything starts. Throws `SetupError`, which names
 * the variable or the missing groups.
 */
export function loadTls({
  certFile,
  keyFile,
  requireHybrid,
}: NonNullable<Config['tls']>): TlsOptions {
  const { cert, key } = readCertificate({ certFile, keyFile });
  requireGroups(requireHybrid ? HYBRID_GROUPS : [...HYBRID_GROUPS, ...CLASSICAL_GROUPS]);
  return {
    cert,
    key,
    minVersion: 'TLSv1.3',
    ciphers: CIPHER_SUITES.join(':'),
    ecdhCurve: groupList(requireHybrid),
    honorCipherOrder: true,
  };
}

/**
 * Returns the groups as OpenSSL's list. The slash starts a second tuple: OpenSSL 3.5 asks a client that supports a group
 * of the first tuple for its share (HelloRetryRequest), instead of accepting a classical share that the client sent.
 */
function groupList(requireHybrid: boolean): string {
  const hybrid = HYBRID_GROUPS.join(':');
  return requireHybrid ? hybrid : `${hybrid}/${CLASSICAL_GROUPS.join(':')}`;
}

/** Throws `SetupError` if this Node lacks a group: the server must not silently offer fewer groups. */
export function requireGroups(groups: readonly string[]): void {
  const missing = groups.filter((ecdhCurve) => {
    try {
      createSecureContext({ ecdhCurve });
      return false;
    } catch {
      return true;
    }
  });
  if (missing.length === 0) return;
  const { node, openssl } = process.versions;
  throw new SetupError(
    `this Node (${node}, OpenSSL ${openssl}) lacks the TLS groups ${missing.join(', ')}: start the server with ` +
      'bin/phm or npm start, which use the Node of this project, or terminate TLS at a reverse proxy',
  );
}
