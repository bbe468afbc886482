/** The server's certificate and its key, read and checked as a pair. The server reads them at startup only. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { readFailure, readTextFile } from '#platform/files';
import { SetupError } from '../errors.ts';

interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate with its chain, and the key of the first one, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Each certificate of a PEM file, under all labels that OpenSSL reads. */
const CERTIFICATES = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----.+?-----END \1-----/gs;

/**
 * Reads `PHM_TLS_CERT_FILE` and `PHM_TLS_KEY_FILE`. Throws `SetupError`, which names the variable, if they are not a
 * certificate with its key. An expired certificate is no error.
 */
export function readCertificate({ certFile, keyFile }: CertificateFiles): Certificate {
  const cert = readPem('PHM_TLS_CERT_FILE', certFile);
  const key = readPem('PHM_TLS_KEY_FILE', keyFile);
  requirePair(cert, key);
  return { cert, key };
}

/**
 * Returns when a chain in PEM expires, in milliseconds since 1970: the earliest end of its certificates, because
 * clients refuse a chain of which one has expired. Throws if it holds no certificate.
 */
export function notAfterMs(cert: string): number {
  return Math.min(...certificatesIn(cert).map(({ validToDate }) => validToDate.getTime()));
}

/** Returns the certificates of a chain in PEM. Throws if there is none. */
export function certificatesIn(cert: string): X509Certificate[] {
  return (cert.match(CERTIFICATES) ?? [cert]).map((pem) => new X509Certificate(pem));
}

/**
 * Throws `SetupError` unless OpenSSL accepts both and the key belongs to the first certificate. OpenSSL itself compares
 * them only if their types are equal; a pair of different types works for no client.
 */
function requirePair(cert: string, key: string): void {
  const problem = 'PHM_TLS_CERT_FILE and PHM_TLS_KEY_FILE are not a certificate with its key';
  let belongTogether: boolean;
  try {
    createSecureContext({ cert, key });
    belongTogether = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (cause) {
    throw new SetupError(`${problem}: ${(cause as Error).message}`, { cause });
  }
  if (!belongTogether) throw new SetupError(`${problem}: the key belongs to another certificate`);
}

function readPem(variable: string, path: string): string {
  try {
    return readTextFile(path);
  } catch (cause) {
    throw new SetupError(`${variable}: cannot read ${path}: ${readFailure(cause)}`, { cause });
  }
}
