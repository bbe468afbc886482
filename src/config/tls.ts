/** TLS options of the listener: those of the profile in `PHM_TLS_PROFILE`, for the certificate that is set. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { SetupError } from '../errors.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import type { Config } from './index.ts';
import { groupsOf, profileOf, type TlsProfileName } from './tls-profiles.ts';

/** A certificate, its key, and the options of the listener. */
export type TlsOptions = Certificate &
  Pick<
    SecureContextOptions,
    'minVersion' | 'ciphers' | 'ecdhCurve' | 'sigalgs' | 'honorCipherOrder'
  >;

/**
 * Reads the certificate and its key and checks all options, before anything starts. Throws `SetupError`, which names
 * the variable or the missing groups.
 */
export function loadTls({ certFile, keyFile, profile }: NonNullable<Config['tls']>): TlsOptions {
  const { cert, key } = readCertificate({ certFile, keyFile });
  const { suites, groups } = profileOf(profile);
  const sigalgs = requireSignatures(profile, new X509Certificate(cert).publicKey);
  requireGroups(groupsOf(profile));
  return {
    cert,
    key,
    minVersion: 'TLSv1.3',
    ciphers: suites.join(':'),
    // The slash starts the next tuple: OpenSSL 3.5 asks a client that supports a group of an earlier tuple for its share
    // (HelloRetryRequest), instead of accepting a share of a later one that the client sent.
    ecdhCurve: groups.map((tuple) => tuple.join(':')).join('/'),
    sigalgs: sigalgs.join(':'),
    honorCipherOrder: true,
  };
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

/**
 * Returns the signature algorithms of the profile that a certificate's key can make. Throws `SetupError` if there is none:
 * the server would start and refuse every client.
 */
function requireSignatures(profile: TlsProfileName, key: KeyObject): string[] {
  const { signatures, leastRsaBits = 0, certificate } = profileOf(profile);
  const { modulusLength = leastRsaBits } = key.asymmetricKeyDetails ?? {};
  const found = signaturesOf(key).filter((one) => signatures.includes(one));
  if (found.length > 0 && modulusLength >= leastRsaBits) return found;
  throw new SetupError(
    `PHM_TLS_PROFILE is ${profile}, which does not allow the key of the certificate in PHM_TLS_CERT_FILE, ` +
      `${describeKey(key)}: get a certificate with ${certificate}, or set another profile (docs/configuration.md#tls-profiles)`,
  );
}

const BY_CURVE: Readonly<Record<string, string>> = {
  prime256v1: 'ecdsa_secp256r1_sha256',
  secp384r1: 'ecdsa_secp384r1_sha384',
  secp521r1: 'ecdsa_secp521r1_sha512',
};

const HASHES = ['sha256', 'sha384', 'sha512'];

/** Returns the signature algorithms of TLS 1.3 that a key can make (RFC 8446 §4.2.3, draft-ietf-tls-mldsa). */
function signaturesOf({ asymmetricKeyType: type, asymmetricKeyDetails }: KeyObject): string[] {
  const { namedCurve = '', hashAlgorithm } = asymmetricKeyDetails ?? {};
  if (type === 'ec') return namedCurve in BY_CURVE ? [BY_CURVE[namedCurve] ?? ''] : [];
  if (type === 'rsa') return HASHES.map((hash) => `rsa_pss_rsae_${hash}`);
  if (type === 'rsa-pss') {
    // A key may be restricted to one hash.
    return HASHES.filter((hash) => hash === (hashAlgorithm ?? hash)).map(
      (hash) => `rsa_pss_pss_${hash}`,
    );
  }
  return [(type ?? '').replace(/^ml-dsa-/, 'mldsa')];
}

function describeKey({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  const { namedCurve, modulusLength, hashAlgorithm } = asymmetricKeyDetails ?? {};
  const length = modulusLength && `of ${modulusLength} bits`;
  const details = [namedCurve, length, hashAlgorithm && `for ${hashAlgorithm}`];
  return [asymmetricKeyType, ...details].filter((text) => text).join(' ');
}
