/** HPKE's cipher suites over the Web Crypto API, or over other KEMs. */
import {
  AEAD_AES_256_GCM,
  CipherSuite,
  KDF_HKDF_SHA256,
  KDF_HKDF_SHA512,
  KEM_ML_KEM_1024,
  KEM_MLKEM768_X25519,
  type KEMFactory,
  NotSupportedError,
} from 'hpke';
import { joined, sha256, utf8 } from './hash.ts';
import { type SealSuiteName, suiteOf } from './suites.ts';

/** A KEM for each suite. */
export type Kems = Readonly<Record<SealSuiteName, KEMFactory>>;

/** KEMs of the platform. */
export const PLATFORM_KEMS: Kems = {
  'MLKEM768-X25519': KEM_MLKEM768_X25519,
  'ML-KEM-1024': KEM_ML_KEM_1024,
};

const KDFS = {
  'MLKEM768-X25519': KDF_HKDF_SHA256,
  'ML-KEM-1024': KDF_HKDF_SHA512,
} as const;

/** Cipher suites by their KEM: each is made once, because the library probes the platform for it. */
const made = new WeakMap<KEMFactory, CipherSuite>();

export function cipherSuite(name: SealSuiteName, kems: Kems): CipherSuite {
  const kem = kems[suiteOf(name).name];
  const known = made.get(kem);
  if (known) return known;
  const suite = new CipherSuite(kem, KDFS[name], AEAD_AES_256_GCM);
  made.set(kem, suite);
  return suite;
}

const INFO_LABEL = utf8('phm/seal/v1\0');

/**
 * Returns HPKE's `info`, which binds a sealed key to this format and to its header with the recipient's thumbprint. A copy
 * of a virtual machine may encapsulate the same secret again (SECURITY.md). AES-GCM's key and nonce then differ all the
 * same, because `key_commitment` does. The hash keeps `info` below 64 bytes, as RFC 9180 §7.2.1 recommends.
 */
export async function infoOf(header: Uint8Array): Promise<Uint8Array> {
  return joined([INFO_LABEL, await sha256(header)]);
}

/** Reports whether an error says that the platform lacks an algorithm of the suite. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof NotSupportedError;
}
