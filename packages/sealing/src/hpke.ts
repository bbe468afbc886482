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
import type { SealHeader } from './header.ts';
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

/** What a sealer computes with. A service passes its own, where the Web Crypto API costs a job in a thread pool for each step. */
export interface Primitives {
  /** Returns the suite, whose KEM need not decapsulate. */
  readonly cipherSuite: (name: SealSuiteName) => CipherSuite;
  /** Returns SHA-256 of the joined parts. */
  readonly sha256: (...parts: readonly Uint8Array[]) => Uint8Array | Promise<Uint8Array>;
}

/** Returns the primitives of the Web Crypto API with these KEMs. */
export function webCrypto(kems: Kems): Primitives {
  return { cipherSuite: (name) => cipherSuite(name, kems), sha256 };
}

const INFO_LABELS: Readonly<Record<SealHeader['type'], Uint8Array>> = {
  'phm-sealed-key/v1': utf8('phm/seal/v1\0'),
  'phm-sealed-key/v2': utf8('phm/seal/v2\0'),
};

/**
 * Returns HPKE's `info` from the type of the header and its SHA-256. It binds a sealed key to this format and to its header with the
 * recipient's thumbprint. A copy of a virtual machine may encapsulate the same secret again (SECURITY.md). AES-GCM's key and nonce then differ all the
 * same, because `key_commitment` does. The hash keeps `info` below 64 bytes, as RFC 9180 §7.2.1 recommends.
 */
export function infoOf(type: SealHeader['type'], headerDigest: Uint8Array): Uint8Array {
  return joined([INFO_LABELS[type], headerDigest]);
}

/** Reports whether an error says that the platform lacks an algorithm of the suite, or a format of its keys. */
export function isUnsupported(error: unknown): boolean {
  if (error instanceof NotSupportedError) return true;
  // So Firefox refuses a format that it does not know. The library passes the error on, or wraps it as that of a wrong key.
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof DOMException && cause.name === 'SyntaxError';
}
