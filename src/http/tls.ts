/**
 * What the listener offers with a certificate: TLS 1.3 (RFC 8446), two cipher suites of 256-bit keys, and
 * hybrid key exchange (draft-ietf-tls-ecdhe-mlkem) before elliptic curves alone.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Config } from '../config/index.ts';
import { SetupError } from '../errors.ts';

/** The server's order. A 256-bit key must not travel under a 128-bit one: TLS_AES_128_GCM_SHA256 is left out. */
const CIPHER_SUITES: readonly string[] = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** An elliptic curve and ML-KEM together. The last one is for clients restricted to NIST's curves. */
const HYBRID_GROUPS: readonly string[] = [
  'X25519MLKEM768',
  'SecP384r1MLKEM1024',
  'SecP256r1MLKEM768',
];

/** For clients without ML-KEM. RFC 8446 §9.1 requires P-256; some policies allow P-384 alone. */
const CLASSICAL_GROUPS: readonly string[] = ['X25519', 'P-256', 'P-384'];

/** A certificate with its key, and how the listener uses them. */
export type TlsOptions = Pick<
  SecureContextOptions,
  'cert' | 'key' | 'minVersion' | 'ciphers' | 'ecdhCurve' | 'honorCipherOrder'
>;

/**
 * Reads the certificate and its key and tries all options together, before anything is started. Throws
 * `SetupError`, which names the variable or the missing groups.
 */
export function loadTls({
  certFile,
  keyFile,
  requireHybrid,
}: NonNullable<Config['tls']>): TlsOptions {
  const cert = readPem('PHM_TLS_CERT_FILE', certFile);
  const key = readPem('PHM_TLS_KEY_FILE', keyFile);
  requirePair(cert, key);
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
 * OpenSSL's list. The slash opens a second tuple: OpenSSL 3.5 asks a client that supports a group of the
 * first one for its share (HelloRetryRequest) rather than settle for a classical share that it sent.
 */
function groupList(requireHybrid: boolean): string {
  const hybrid = HYBRID_GROUPS.join(':');
  return requireHybrid ? hybrid : `${hybrid}/${CLASSICAL_GROUPS.join(':')}`;
}

/** Throws `SetupError` if this Node lacks a group: fewer groups must never be offered in silence. */
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
      'bin/phm or npm start, which use the Node of this project, or end TLS at a proxy',
  );
}

/**
 * Throws `SetupError` unless OpenSSL takes both and the key is that of the first certificate. OpenSSL itself
 * compares them only where their types are the same; a pair of two types serves no client.
 */
function requirePair(cert: string, key: string): void {
  const problem = 'PHM_TLS_CERT_FILE and PHM_TLS_KEY_FILE do not make a certificate with its key';
  let belongTogether: boolean;
  try {
    createSecureContext({ cert, key });
    belongTogether = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (cause) {
    throw new SetupError(`${problem}: ${(cause as Error).message}`, { cause });
  }
  if (!belongTogether) throw new SetupError(`${problem}: the key is that of another certificate`);
}

function readPem(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SetupError(`${variable}: cannot read ${path}: ${(cause as Error).message}`, {
      cause,
    });
  }
}
